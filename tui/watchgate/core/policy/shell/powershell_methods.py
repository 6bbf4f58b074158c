"""Methods of .NET that PowerShell calls, as the shell commands that do the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from watchgate.core.policy.shell.words import Word, names

_STATIC = re.compile(r"\[(?:system\.)?([\w.]+)\]\s*::\s*(\w+)\s*", re.IGNORECASE | re.ASCII)
_MEMBER = re.compile(r"\.\s*(\w+)\s*$", re.ASCII)

# By type and method: the command that comes before the arguments, of which so many are operands.
_STATIC_CALLS: Final[Mapping[str, tuple[str, int]]] = {
    "io.file.delete": ("rm -f", 1),
    "io.directory.delete": ("rm -rf", 1),
    "io.file.readalltext": ("cat", 1),
    "io.file.readalllines": ("cat", 1),
    "io.file.readallbytes": ("cat", 1),
    "io.file.writealltext": ("tee", 1),
    "io.file.writealllines": ("tee", 1),
    "io.file.writeallbytes": ("tee", 1),
    "io.file.appendalltext": ("tee -a", 1),
    "io.file.create": ("tee", 1),
    "io.file.copy": ("cp", 2),
    "io.file.move": ("mv", 2),
    "io.directory.move": ("mv", 2),
    "io.directory.createdirectory": ("mkdir -p", 1),
    "io.file.exists": ("ls -d", 1),
    "io.directory.exists": ("ls -d", 1),
    "io.directory.getfiles": ("ls", 1),
    "io.directory.getdirectories": ("ls", 1),
    "io.compression.zipfile.extracttodirectory": ("unzip", 2),
    "environment.getenvironmentvariable": ("printenv", 1),
    "environment.getenvironmentvariables": ("env", 0),
    "convert.frombase64string": ("base64 -d", 0),
    "diagnostics.process.start": ("", 2),
}
_MEMBER_CALLS: Final[Mapping[str, tuple[str, int]]] = {
    "downloadstring": ("curl", 1),
    "downloaddata": ("curl", 1),
    "getstringasync": ("curl", 1),
    "downloadfile": ("curl -o", 2),
}
_HARMLESS_TYPES = names(
    """math string datetime timespan guid convert text.encoding io.path int double char version
    regex bool array text.regularexpressions.regex"""
)
_HARMLESS_MEMBERS = names(
    """trim trimstart trimend split tostring replace contains startswith endswith tolower toupper
    substring indexof lastindexof padleft padright getstring getbytes gettype equals compareto
    add addrange containskey insert toarray adddays addhours addminutes round"""
)


def method_in_shell(name: str, given: Sequence[Word]) -> list[str | Word] | None:
    """The shell command that a call is: none for one without effects, None for an unknown one.

    `name` is the text in front of the arguments, such as `[IO.File]::Delete`.
    """
    if static := _STATIC.fullmatch(name):
        kind = static[1].lower()
        call = _STATIC_CALLS.get(f"{kind}.{static[2].lower()}")
        harmless = kind in _HARMLESS_TYPES
    else:
        member = _MEMBER.search(name)
        method = member[1].lower() if member else ""
        call = _MEMBER_CALLS.get(method)
        harmless = method in _HARMLESS_MEMBERS
    if call is None:
        return [] if harmless else None
    command, operands = call
    if len(given) < operands and command:
        return None
    # The file that a download becomes stands first, behind its option.
    named = given[:operands][::-1] if command.startswith("curl") else given[:operands]
    return [*command.split(), *named]

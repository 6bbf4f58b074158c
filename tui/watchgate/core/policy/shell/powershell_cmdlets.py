"""PowerShell's own commands as a table: the shell command that does the same, and its options.

- Methods of .NET that PowerShell calls, as the shell commands that do the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from watchgate.core.policy.shell.commands import Word, names

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


ALIASES: Final[Mapping[str, str]] = {
    alias: cmdlet
    for cmdlet, aliases in {
        "Remove-Item": "rm del erase rd ri rmdir",
        "Clear-Content": "clc",
        "Clear-Item": "cli",
        "Remove-ItemProperty": "rp",
        "Get-Content": "cat gc type",
        "Get-ChildItem": "ls dir gci",
        "Get-Item": "gi",
        "Copy-Item": "cp copy cpi",
        "Move-Item": "mv move mi",
        "Rename-Item": "ren rni",
        "New-Item": "ni",
        "Set-Content": "sc",
        "Add-Content": "ac",
        "Tee-Object": "tee",
        "Write-Output": "echo write",
        "Select-String": "sls",
        "Invoke-WebRequest": "iwr curl wget",
        "Invoke-RestMethod": "irm",
        "Invoke-Expression": "iex",
        "Invoke-Command": "icm",
        "Invoke-Item": "ii",
        "Start-Process": "saps start",
        "Stop-Process": "kill spps",
        "Get-Process": "gps ps",
        "Get-Service": "gsv",
        "Get-Command": "gcm",
        "Get-Member": "gm",
        "Get-Location": "gl pwd",
        "Set-Location": "sl cd chdir",
        "Push-Location": "pushd",
        "Pop-Location": "popd",
        "Set-ItemProperty": "sp",
        "Set-Alias": "sal",
        "New-Alias": "nal",
        "Import-Module": "ipmo",
        "ForEach-Object": "% foreach",
        "Where-Object": "? where",
        "Select-Object": "select",
        "Sort-Object": "sort",
        "Group-Object": "group",
        "Measure-Object": "measure",
        "Compare-Object": "compare diff",
        "Format-Table": "ft",
        "Format-List": "fl",
        "Format-Wide": "fw",
        "Out-Host": "oh",
        "Start-Sleep": "sleep",
        "Start-Job": "sajb",
    }.items()
    for alias in aliases.split()
}
"""PowerShell's short names; some of them are programs of other systems too."""

PROGRAMS: Final = names(
    """rm rmdir cat ls cp mv tee echo curl wget pwd cd pushd popd sort diff compare kill ps sleep
    where"""
)
"""Short names that are programs on other systems, whose words are then their own."""

CHANGES_NAMES: Final = names("set-alias new-alias import-alias")
"""Behind them the same word is another command."""


class Cmdlet(msgspec.Struct, frozen=True):
    """The shell command that does what a cmdlet does.

    `operands` are its parameters that become operands, in that order; `positions` are those that
    need no name. `options` become the options that they are mapped to, `valued` with their value.
    `ignored` are parameters with a value that decide nothing, `flags` those without one. A cmdlet
    whose parameters all `pass` is harmless whatever they say.
    """

    words: tuple[str, ...]
    operands: tuple[str, ...] = ()
    positions: tuple[str, ...] = ()
    options: Mapping[str, str] = {}
    valued: Mapping[str, str] = {}
    ignored: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    passes: bool = False

    def parameter(self, text: str) -> str | None:
        """The one parameter that a name or the beginning of one means; None for none or several."""
        own = (*self.operands, *self.positions, *self.options, *self.valued)
        known = {*own, *self.ignored, *self.flags, *COMMON.ignored, *COMMON.flags}
        if text in known:
            return text
        meant = [each for each in known if each.startswith(text)]
        return meant[0] if len(meant) == 1 else None

    def takes_value(self, key: str) -> bool:
        """Tells whether a parameter has a value."""
        ignored = key in self.ignored or key in COMMON.ignored
        return ignored or key in self.operands or key in self.positions or key in self.valued


def _cmdlet(
    words: str, operands: str = "", options: str = "", valued: str = "", rest: str = ""
) -> Cmdlet:
    """Makes an entry of the table.

    Args:
        words: The shell command.
        operands: The parameters that become operands; behind `|` the order of those without a name.
        options: Pairs such as `recurse=-r`.
        valued: Pairs such as `outfile=-o`.
        rest: Parameters that decide nothing, those that take a value with `=` behind the name.
    """
    order, _, positions = operands.partition("|")
    rested = rest.split()
    return Cmdlet(
        tuple(words.split()),
        tuple(order.split()),
        tuple((positions or order).split()),
        dict(pair.split("=") for pair in options.split()),
        dict(pair.split("=") for pair in valued.split()),
        frozenset(each[:-1] for each in rested if each.endswith("=")),
        frozenset(each for each in rested if not each.endswith("=")),
    )


COMMON = _cmdlet(
    "",
    rest="""whatif verbose debug passthru confirm erroraction= ea= warningaction= wa= encoding=
    outvariable= informationaction= progressaction= errorvariable= warningvariable= outbuffer=
    pipelinevariable=""",
)
_CHOSEN = "include= exclude= filter="
_WEB = """usebasicparsing contenttype= timeoutsec= useragent= maximumredirection=
sessionvariable= skiphttperrorcheck"""

CMDLETS: Final[Mapping[str, Cmdlet]] = {
    "remove-item": _cmdlet(
        "rm", "path literalpath | path", "recurse=-r force=-f", rest=f"{_CHOSEN} stream="
    ),
    "clear-content": _cmdlet("truncate -s 0", "path literalpath | path", rest=f"{_CHOSEN} force"),
    "get-content": _cmdlet(
        "cat",
        "path literalpath | path",
        rest=f"{_CHOSEN} raw wait force totalcount= head= first= tail= last= readcount= delimiter=",
    ),
    "get-childitem": _cmdlet(
        # Not every system hides the files whose names begin with a dot.
        "ls -A",
        "path literalpath | path filter",
        "recurse=-R r=-R",
        rest=f"{_CHOSEN} force depth= attributes= name file directory hidden readonly system",
    ),
    "get-item": _cmdlet("ls -d", "path literalpath | path", rest=f"{_CHOSEN} force"),
    "test-path": _cmdlet("ls -d", "path literalpath | path", rest=f"{_CHOSEN} pathtype= isvalid"),
    "resolve-path": _cmdlet("ls -d", "path literalpath | path", rest="relative"),
    "get-filehash": _cmdlet("sha256sum", "path literalpath | path", rest="algorithm="),
    "copy-item": _cmdlet(
        "cp", "path literalpath destination | path destination", "recurse=-r force=-f", rest=_CHOSEN
    ),
    "move-item": _cmdlet(
        "mv", "path literalpath destination | path destination", "force=-f", rest=_CHOSEN
    ),
    "rename-item": _cmdlet("mv", "path literalpath newname | path newname", "force=-f"),
    "set-content": _cmdlet(
        "tee",
        "path literalpath | path value",
        rest=f"{_CHOSEN} value= nonewline force asbytestream",
    ),
    "add-content": _cmdlet(
        "tee -a", "path literalpath | path value", rest=f"{_CHOSEN} value= nonewline force"
    ),
    "out-file": _cmdlet(
        "tee", "filepath literalpath path | filepath", "append=-a", rest="width= force nonewline"
    ),
    "tee-object": _cmdlet("tee", "filepath literalpath | filepath", "append=-a", rest="variable="),
    "new-item": _cmdlet("tee", "path name | path", rest="itemtype= type= value= force"),
    "write-output": _cmdlet("echo", "inputobject", rest="noenumerate"),
    "write-host": _cmdlet(
        "echo", "object", rest="nonewline foregroundcolor= backgroundcolor= separator="
    ),
    "write-error": _cmdlet("echo", "message"),
    "write-warning": _cmdlet("echo", "message"),
    "select-string": _cmdlet(
        "grep",
        "pattern path literalpath | pattern path",
        rest=f"""{_CHOSEN} context= culture= casesensitive simplematch quiet list allmatches
        notmatch raw noemphasis""",
    ),
    "invoke-webrequest": _cmdlet(
        "curl", "uri", valued="outfile=-o method=-X body=-d infile=-T headers=-H", rest=_WEB
    ),
    "invoke-restmethod": _cmdlet(
        "curl", "uri", valued="outfile=-o method=-X body=-d infile=-T headers=-H", rest=_WEB
    ),
    "start-process": _cmdlet(
        "",
        "filepath argumentlist",
        rest="""nonewwindow wait loaduserprofile usenewenvironment workingdirectory= windowstyle=
        verb= credential= redirectstandardoutput= redirectstandarderror= redirectstandardinput=""",
    ),
    "expand-archive": _cmdlet(
        "unzip", "path literalpath | path destinationpath", "force=-o", "destinationpath=-d"
    ),
    "compress-archive": _cmdlet(
        "zip -r",
        "destinationpath path literalpath | path destinationpath",
        rest="update force compressionlevel=",
    ),
    "invoke-item": _cmdlet("open", "path literalpath | path"),
    "set-location": _cmdlet("cd", "path literalpath | path"),
    "push-location": _cmdlet("pushd", "path literalpath | path"),
    "pop-location": _cmdlet("popd"),
    "get-location": _cmdlet("pwd"),
    "start-sleep": _cmdlet("sleep", "seconds", rest="milliseconds="),
    **dict.fromkeys(
        names(
            """get-command get-date get-help get-member get-service get-process get-module get-host
            get-culture get-uptime get-random get-unique get-psdrive get-volume get-disk new-guid
            get-acl compare-object measure-object sort-object select-object group-object out-null
            format-table format-list format-wide out-string out-host where-object
            convertto-json convertfrom-json convertto-csv convertfrom-csv convertto-html join-path
            split-path new-timespan write-verbose write-debug
            write-information write-progress"""
        ),
        Cmdlet(("true",), passes=True),
    ),
}
_FOLDER = Cmdlet(("mkdir", "-p"), ("path", "name"), ("path",))
KINDS = {"directory": _FOLDER, "file": CMDLETS["new-item"]}

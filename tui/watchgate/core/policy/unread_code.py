"""A file that a call fills and runs at once, where the text does not show what stands in it.

A script that the text shows is judged line by line. One that was fetched or decoded, or that is
written in another language, is code that nobody has read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from watchgate.core.policy.folders import Folders
from watchgate.core.policy.matching.touches import touches
from watchgate.core.policy.places import Place
from watchgate.core.policy.shell.commands import Command
from watchgate.core.policy.shell.contents import files_run
from watchgate.core.policy.shell.words import names

RULE = "shell.unread-script"
REASON = "Runs a file that this command has just written, and whose content nobody has read"

# They fill the files that they name; others change, copy or mark what was there.
_FILLERS = names(
    """tee sponge dd curl wget wget2 aria2c axel http https xh base64 base32 basenc xxd uudecode
    openssl gpg age gzip gunzip zstd xz bzip2 scp sftp nc ncat socat"""
)
_FETCHERS = names("curl wget wget2 aria2c axel")


def filled(found: Iterable[Command], start: Place) -> frozenset[str]:
    """The absolute paths of the files that commands fill, run one after the other from a place."""
    names_filled = [(command, tuple(_filled(command))) for command in found]
    if not any(named for _, named in names_filled):
        return frozenset()
    paths: set[str] = set()
    folders = Folders(start)
    for command, named in names_filled:
        for place in folders.before(command):
            paths.update(map(place.resolve, named))
        folders.after(command)
    return frozenset(paths)


def runs_unread(command: Command, place: Place, files: frozenset[str]) -> bool:
    """Tell whether a command runs one of these files, and its content was not read."""
    if not files:
        return False
    run = command.loads if command.reads_script else files_run(command)
    return any(place.resolve(name) in files for name in run)


def _filled(command: Command) -> Iterator[str]:
    yield from (each.target.text for each in command.redirects if each.writes)
    if command.program not in _FILLERS:
        return
    yield from (touch.path for touch in touches(command) if touch.kind == "write")
    if command.program in _FETCHERS:
        # Without a name of its own a file is called as the last part of its address.
        for word in command.arguments:
            if "://" in word.text:
                yield word.text.split("?")[0].rstrip("/").rpartition("/")[2]

"""A file that a call fills and runs at once, where the text does not show what stands in it.

A script that the text shows is judged line by line. One that was fetched or decoded, or that is
written in another language, is code that nobody has read.
"""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.core.policy import fetched
from watchgate.core.policy.folders import Folders
from watchgate.core.policy.places import Place
from watchgate.core.policy.shell.commands import Command
from watchgate.core.policy.shell.contents import files_run

RULE = "shell.unread-script"
REASON = "Runs a file that this command has just written, and whose content nobody has read"


def filled(found: Iterable[Command], start: Place) -> frozenset[str]:
    """The absolute paths of the files that commands fill, run one after the other from a place."""
    names_filled = [(command, tuple(fetched.filled(command))) for command in found]
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
    if not files or command.reads_script:
        return False
    return any(place.resolve(name) in files for name in files_run(command))

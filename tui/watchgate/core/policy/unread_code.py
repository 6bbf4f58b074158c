"""Findings about files that a call fills and runs at once, or that the session wrote before.

A script that the text shows is judged line by line. One that was fetched or decoded, or that is
written in another language, is code that nobody has read. One that the session wrote was asked
about by what it is called, and not by what it does.
"""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.core.policy import fetched
from watchgate.core.policy.assessment import Finding
from watchgate.core.policy.folders import Folders
from watchgate.core.policy.places import Place
from watchgate.core.policy.shell.commands import Command
from watchgate.core.policy.shell.contents import files_run
from watchgate.core.text import Span

RULE = "shell.unread-script"
REASON = "Runs a file that this command has just written, and whose content nobody has read"
OWN_RULE = "shell.own-script"
_OWN_REASON = "Runs a file that this session wrote, or asked to write"
_OWN_SUGGEST = "Read the file first"


def filled(commands: Iterable[Command], start: Place) -> frozenset[str]:
    """Returns the absolute paths of files that commands fill, run in turn from a place."""
    names_filled = [(command, tuple(fetched.filled(command))) for command in commands]
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
    """Returns whether a command runs one of these files, and its content was not read."""
    if not files:
        return False
    run = command.loads if command.reads_script else files_run(command)
    return any(place.resolve(name) in files for name in run)


def runs_own(command: Command, place: Place) -> bool:
    """Returns whether a command runs a file of the session's own, and the text does not show it."""
    if not place.changed or command.reads_script:
        return False
    program, *others = tuple(files_run(command)) or ("",)
    # A bare name is looked for elsewhere than in the folder.
    named = others if "/" not in program else [program, *others]
    return any(map(place.is_changed, named))


def own_script(span: Span, segment: int) -> Finding:
    """Makes the finding about a command that runs a file of the session's own."""
    return Finding(
        OWN_RULE, _OWN_REASON, "medium", span, segment, suggest=_OWN_SUGGEST, effect="lasting"
    )

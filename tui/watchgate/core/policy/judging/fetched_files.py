"""Files of a session that were downloaded, decoded or unpacked, and the folders it cloned.

What runs them runs code that came from elsewhere and that nobody has read, in the same call or in
a later one. As with changed files it does not matter whether the call that fetched them was let
run: a question too many is better than code that runs unasked. An archive that is unpacked into the
folder of a command, or a file that is copied among its code, makes all code there count as fetched;
a fetched patch is not known.

- Findings about files that a call fills and runs at once, or that the session wrote before. A
  script that the text shows is judged line by line. One that was fetched or decoded, or that is
  written in another language, is code that nobody has read. One that the session wrote was asked
  about by what it is called, and not by what it does.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from watchgate.core.base.bounded import Recent
from watchgate.core.base.text import Span
from watchgate.core.model.assessment import Finding
from watchgate.core.policy.inputs.places import Place, within
from watchgate.core.policy.inputs.subject import EVERYTHING, NOTHING_FETCHED, Fetched, Subject
from watchgate.core.policy.judging.command_finder import commands_of
from watchgate.core.policy.judging.folders import Folders, place_started_in
from watchgate.core.policy.matching.command_options import operands
from watchgate.core.policy.matching.touches import COPIERS, MOVERS, touches
from watchgate.core.policy.shell.commands import (
    BUILDERS,
    DECODERS,
    FETCHERS,
    FILLERS,
    INSTALLERS,
    SOURCES,
    UNPACKERS,
    Command,
)
from watchgate.core.policy.shell.contents import files_run
from watchgate.core.tools import tool_input

FETCHED: Final = "shell.fetched"
CLONED: Final = "shell.cloned"
_FETCHED = "Runs {}, which was downloaded or decoded before, and whose content nobody has read"
_CLONED = "Runs code of {}, which this session fetched or unpacked"

_MAX_SESSIONS = 1_000
_PATHS_A_SESSION = 1_000
_FOLDER_OPTIONS: Final = frozenset(("-C", "-d", "--directory", "-o"))
_GLOB: Final = re.compile(r"[*?\[]")
_ARCHIVE: Final = re.compile(r"\.(?:tar(?:\.\w{1,4})?|tgz|tbz2?|txz|zip|7z|gz|xz|bz2|zst)$")
# Files of these names are run, or decide what is run, by a build or a test of the folder.
_CODE: Final = re.compile(
    r"\.(?:py|pyi?|pth|[cm]?[jt]sx?|vue|svelte|rb|rs|go|java|kts?|cs|php|c|cc|cpp|h|hpp|swift|ex|exs"
    r"|scala|lua|pl|toml|cfg|ini|mk|cmake|gradle)$|/(?:[Mm]akefile|package\.json|Rakefile)$"
)
_EXTRACTS: Final = re.compile(r"-?[A-Za-z]*x|--(?:extract|get)$")
_LOOKS: Final = {
    "unzip": re.compile(r"-[A-Za-z]*[ltpZv]"),
    "7z": re.compile(r"[latih]$"),
}
_TAR_LOOKS: Final = re.compile(r"-?[A-Za-z]*[tcru]|--(?:list|create|append|update|diff)$")
_CLONERS: Final = frozenset(("git", "gh", "hg", "svn", "degit", "tiged"))
_CLONES: Final = frozenset((("git", "clone"), ("hg", "clone"), ("svn", "checkout"), ("svn", "co")))


class FetchedFiles:
    """The files that each session has fetched, by agent and session."""

    def __init__(self) -> None:
        self._sessions: Recent[tuple[str, str], Fetched] = Recent(_MAX_SESSIONS)

    def of(self, agent: str, session: str) -> Fetched:
        """Returns the files that a session has fetched."""
        return self._sessions.get((agent, session), NOTHING_FETCHED)

    def note(self, subject: Subject) -> None:
        """Remembers what a call fetches; of more than is kept, all counts as fetched."""
        if subject.tool.cls != "shell" or (text := tool_input.command(subject.tool)) is None:
            return
        place = Place(subject.cwd, subject.home, subject.cwd, links=subject.links)
        start = place_started_in(place, tool_input.folder(subject.tool)) or place
        key = subject.agent, subject.session
        known = self.of(*key)
        updated = fetched_after(commands_of(subject.tool, text).commands, start, known)
        if updated == known:
            return
        if len(updated.files) > _PATHS_A_SESSION or len(updated.clones) > _PATHS_A_SESSION:
            updated = Fetched(EVERYTHING, EVERYTHING)
        self._sessions.renew(key, updated)


def fetched_after(text_commands: Iterable[Command], start: Place, before: Fetched) -> Fetched:
    """Returns the fetched files after these commands, run one after the other from a place."""
    commands = tuple(text_commands)
    programs = {command.program for command in commands}
    moves = before != NOTHING_FETCHED and not programs.isdisjoint(COPIERS | MOVERS | UNPACKERS)
    clones_any = not programs.isdisjoint(_CLONERS) and any(map(_is_clone, commands))
    if not moves and programs.isdisjoint(SOURCES) and not clones_any:
        return before
    files, clones = set(before.files), set(before.clones)
    folders = Folders(start)
    for command in commands:
        for place in folders.before(command):
            if _is_clone(command):
                clones.update(map(place.resolve, _cloned(command)))
                continue
            brought = set(map(place.resolve, _brought(command, place, files)))
            if _unpacks_here(command, place, files):
                clones.add(place.cwd)
            if command.program not in SOURCES and any(map(_CODE.search, brought)):
                clones |= {place.cwd, start.cwd}
            files |= brought
        folders.after(command)
    return Fetched(frozenset(files), frozenset(clones))


def fetched_run_findings(
    command: Command, place: Place, known: Fetched, span: Span
) -> Iterator[Finding]:
    """Yields the findings about a command that runs what was fetched.

    Args:
        command: The command.
        place: Where it runs.
        known: What was fetched before it.
        span: The part of the text that the findings are about.
    """
    if known == NOTHING_FETCHED or not command.words:
        return
    # A bare name is looked for among the programs of the system.
    named = [name for name in files_run(command) if name != command.words[0].text or "/" in name]
    builds = command.program in BUILDERS
    if builds or command.program in INSTALLERS:
        named += [touch.path for touch in touches(command)]
    for name in () if command.reads_script else named:
        if _is_in(place.resolve(name), known.files):
            reason = _FETCHED.format(name)
            yield Finding(FETCHED, reason, "high", span, command.segment)
            return
    for path in [*map(place.resolve, named), *([place.cwd] if builds else ())]:
        if clone := next((each for each in known.clones if within(path, each)), None):
            reason = _CLONED.format(posixpath.basename(clone) or "a folder")
            yield Finding(CLONED, reason, "medium", span, command.segment, effect="lasting")
            return


def _is_in(path: str, files: frozenset[str] | set[str]) -> bool:
    """Returns whether a path is one of these, or lies in one that is a folder."""
    if path in files or files >= EVERYTHING:
        return True
    return any(path[:at] in files for at, sign in enumerate(path) if sign == "/" and at)


def _brought(command: Command, place: Place, files: set[str]) -> Iterator[str]:
    """Yields the files that a command fetches or decodes, or makes of such ones."""
    program = command.program
    if program in UNPACKERS:
        yield from _unpacked(command, place, files)
    elif program in SOURCES or any(each.program in SOURCES for each in command.piped_from):
        yield from filled(command)
        if program in DECODERS:
            yield from _without_ending(command)
    elif files and program == "git" and "mv" in (each.text for each in command.arguments[:1]):
        yield from _moved(command, place, files)
    elif files and (program in COPIERS or program in MOVERS):
        touched = touches(command)
        taken = [touch.path for touch in touched if _takes(touch.path, place, files)]
        for target in [touch.path for touch in touched if touch.kind == "write"] if taken else ():
            yield target
            yield from (f"{target}/{posixpath.basename(path.rstrip('/'))}" for path in taken)


def _takes(path: str, place: Place, files: set[str]) -> bool:
    """Returns whether a path that is copied may be one of these files, or hold one."""
    resolved = place.resolve(path)
    if _is_in(resolved, files):
        return True
    glob = _GLOB.search(resolved)
    folder = posixpath.dirname(resolved[: glob.start()]) if glob else resolved
    return any(within(each, folder) for each in files)


def _moved(command: Command, place: Place, files: set[str]) -> Iterator[str]:
    """Yields the path to which `git mv` moves such files."""
    named = [word.text for word in operands(command.program, command.arguments)][1:]
    taken = [path for path in named[:-1] if _takes(path, place, files)]
    if taken:
        yield named[-1]


def filled(command: Command) -> Iterator[str]:
    """Yields the files that a command fills with content that its words do not show."""
    yield from (each.target.text for each in command.redirects if each.writes)
    if command.program not in FILLERS:
        return
    yield from (touch.path for touch in touches(command) if touch.kind == "write")
    if command.program in FETCHERS:
        for word in command.arguments:
            if "://" in word.text:
                yield word.text.split("?")[0].rstrip("/").rpartition("/")[2]


def _without_ending(command: Command) -> Iterator[str]:
    """Yields the names of unpacked files: those of the packed ones without the last ending."""
    for word in command.arguments:
        if match := _ARCHIVE.search(word.text):
            yield word.text[: match.start()]


def _unpacked(command: Command, place: Place, files: set[str]) -> Iterator[str]:
    """Yields the folders that a fetched archive is unpacked to, and the one of its own name."""
    fed = any(each.program in SOURCES for each in command.piped_from)
    named = [word.text for word in command.arguments]
    archives = [text for text in named if _is_in(place.resolve(text), files)]
    if not (fed or archives):
        return
    for option, value in pairwise(named):
        if option in _FOLDER_OPTIONS:
            yield value
    for text in archives:
        yield _ARCHIVE.sub("", posixpath.basename(text))


def _unpacks_here(command: Command, place: Place, files: set[str]) -> bool:
    """Returns whether an archive from elsewhere may be unpacked into the folder of a command."""
    if command.program not in UNPACKERS or not command.arguments:
        return False
    named = [word.text for word in command.arguments]
    fed = any(each.program in SOURCES for each in command.piped_from)
    if not (fed or any(_is_in(place.resolve(text), files) for text in named)):
        return False
    if not (_FOLDER_OPTIONS - {"-o"}).isdisjoint(named):
        return False
    if command.program in _LOOKS:
        return not _LOOKS[command.program].match(named[0])
    return any(map(_EXTRACTS.match, named)) or not _TAR_LOOKS.match(named[0])


def _is_clone(command: Command) -> bool:
    texts = [word.text for word in command.arguments]
    if command.program == "gh":
        return texts[:2] == ["repo", "clone"]
    if command.program in ("degit", "tiged"):
        return True
    return any((command.program, text) in _CLONES for text in texts[:6])


def _cloned(command: Command) -> Iterator[str]:
    """Yields the folder of a clone: as it is named, or as the repository is called."""
    named = [word.text for word in operands(command.program, command.arguments)]
    verbs = {"clone", "checkout", "co", "repo"}
    rest = [text for text in named if text not in verbs]
    if len(rest) > 1:
        yield rest[-1]
    if rest:
        name = posixpath.basename(rest[0].rstrip("/").removesuffix(".git").replace(":", "/"))
        yield name


RULE = "shell.unread-script"
REASON = "Runs a file that this command has just written, and whose content nobody has read"
OWN_RULE = "shell.own-script"
_OWN_REASON = "Runs a file that this session wrote, or asked to write"
_OWN_SUGGEST = "Read the file first"


def filled_files(commands: Iterable[Command], start: Place) -> frozenset[str]:
    """Returns the absolute paths of files that commands fill, run in turn from a place."""
    names_filled = [(command, tuple(filled(command))) for command in commands]
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

"""Turns looks into facts: one short phrase for each thing that would be touched or lost.

Chooses the looks that a pending call is worth, from its commands. Pure: looks at nothing.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeVar, TypeVarTuple

import anyio
import anyio.to_thread
import msgspec
from anyio.lowlevel import RunVar

from watchgate.core.model.assessment import Segment
from watchgate.core.model.records import Fact, RequestData
from watchgate.core.tools import tool_input
from watchgate.core.tools.tool_input import paths
from watchgate.service.watch.facts.git_questions import GitQuestions, open_repository

_MANY = 100_000


class FileCounts(msgspec.Struct):
    """Counts of what lies at some paths, and its bytes; `cut` where not everything was counted."""

    files: int = 0
    folders: int = 0
    size_bytes: int = 0
    missing: list[str] = []
    cut: bool = False


def count_files(folder: str, words: Sequence[str], late: Callable[[], bool]) -> FileCounts:
    """Counts what lies at these paths and below, links not followed. Stops when it is `late`."""
    counts = FileCounts()
    for word in words:
        try:
            path = Path(folder, Path(word).expanduser())
            mode = path.lstat()
        except (OSError, ValueError, RuntimeError):  # no such user, or a name that none can have
            counts.missing.append(word)
            continue
        if not stat.S_ISDIR(mode.st_mode):
            counts.files += 1
            counts.size_bytes += mode.st_size
            continue
        counts.folders += 1
        for entry in _below(path, late, counts):
            counts.files += 1
            counts.size_bytes += entry
    return counts


def _below(root: Path, late: Callable[[], bool], counts: FileCounts) -> Iterator[int]:
    """Yields the sizes of all files below a folder."""
    folders = [str(root)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if late() or counts.files >= _MANY:
                        counts.cut = True
                        return
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        yield entry.stat(follow_symlinks=False).st_size
        except OSError:
            counts.cut = True


def existing_words(folder: str, words: Sequence[str]) -> list[str]:
    """Returns the words that name something that exists."""
    return [word for word in words if os.path.lexists(Path(folder, word))]


def command_line(pid: str) -> str:
    """Returns the beginning of a process's command; empty where there is none to read."""
    try:
        line = Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return ""
    return line.replace(b"\0", b" ").strip()[:80].decode(errors="replace")


def size_text(size_bytes: int) -> str:
    """Returns a size as it is read: `912 B`, `4.1 kB`, `38 MB`."""
    amount = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1_000 or unit == "GB":
            break
        amount /= 1_000
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"


LookKind = Literal[
    "removes",
    "overwrites",
    "discards",
    "discards-untracked",
    "pushes",
    "drops-branch",
    "drops-stash",
    "signals",
]

_EXPANDED = frozenset("$`*?[{")


class FactLook(msgspec.Struct, frozen=True):
    """One thing to look at: the effect that the command would have there, and on which words.

    `folder` is where the command would run, absolute.
    """

    what: LookKind
    folder: str
    words: tuple[str, ...]
    segment: int | None = None


def looks(data: RequestData, home: str) -> Iterator[FactLook]:
    """Yields the looks that a request is worth; words that only the run knows are left out."""
    if data.tool.cls == "edit":
        yield FactLook("overwrites", data.cwd, paths(data.tool))
    own = tool_input.folder(data.tool)
    folder = "" if own is None else posixpath.normpath(posixpath.join(data.cwd, own))
    for segment in data.segments:
        if not segment.words or not folder.startswith("/"):
            continue
        program = posixpath.basename(segment.words[0])
        operands = [word for word in segment.words[1:] if not word.startswith("-")]
        if program in ("cd", "pushd"):
            folder = "" if segment.dynamic else _moved(folder, operands, home)
        elif looks_of := _LOOKS.get(program):
            yield from looks_of(segment, operands, folder)


def _moved(folder: str, operands: list[str], home: str) -> str:
    target = operands[0] if operands else "~"
    if target == "~" or target.startswith("~/"):
        target = home + target[1:]
    return posixpath.normpath(posixpath.join(folder, target)) if target != "-" else ""


def _plain(words: list[str]) -> tuple[str, ...]:
    return tuple(word for word in words if not _EXPANDED.intersection(word))


def _has(segment: Segment, *flags: str) -> bool:
    for word in segment.words[1:]:
        if word in flags or word.partition("=")[0] in flags:
            return True
        short = word.startswith("-") and not word.startswith("--")
        if short and any(len(flag) == 2 and flag[1] in word[1:] for flag in flags):
            return True
    return False


def _rm(segment: Segment, operands: list[str], folder: str) -> Iterator[FactLook]:
    if named := _plain(operands):
        yield FactLook("removes", folder, named, segment.number)


def _find(segment: Segment, _operands: list[str], folder: str) -> Iterator[FactLook]:
    if _has(segment, "-delete", "-exec", "-execdir"):
        roots = segment.words[1:]
        first = next((i for i, w in enumerate(roots) if w.startswith(("-", "(", "!"))), len(roots))
        yield FactLook("removes", folder, _plain(list(roots[:first])) or (".",), segment.number)


def _onto(segment: Segment, operands: list[str], folder: str) -> Iterator[FactLook]:
    if len(operands) == 2 and (target := _plain(operands[1:])):
        yield FactLook("overwrites", folder, target, segment.number)


def _kill(segment: Segment, operands: list[str], folder: str) -> Iterator[FactLook]:
    if pids := tuple(word for word in operands if word.isdecimal()):
        yield FactLook("signals", folder, pids, segment.number)


def _git(segment: Segment, operands: list[str], folder: str) -> Iterator[FactLook]:
    verb, rest = (operands[0], operands[1:]) if operands else ("", [])
    where = _git_folder(segment, folder)
    if where != folder:
        verb, rest = (operands[1], operands[2:]) if len(operands) > 1 else ("", [])
    what: LookKind | None = None
    if (verb == "reset" and _has(segment, "--hard")) or (
        verb in ("checkout", "switch", "restore")
        and (_has(segment, "-f", "--force", "--discard-changes") or rest or verb == "restore")
    ):
        what = "discards"
    elif verb == "clean" and _has(segment, "-f", "--force"):
        what = "discards-untracked"
    elif verb == "push" and (_has(segment, "-f", "--force") or any(w[0] == "+" for w in rest if w)):
        what = "pushes"
    elif verb == "branch" and _has(segment, "-D"):
        what = "drops-branch"
    elif verb == "stash" and rest[:1] in (["drop"], ["clear"]):
        what = "drops-stash"
    if what is not None and where:
        yield FactLook(what, where, _plain(rest), segment.number)


def _git_folder(segment: Segment, folder: str) -> str:
    """Returns the folder git works in: `-C folder` moves it; empty if only the run knows it."""
    words = segment.words
    if len(words) > 2 and words[1] == "-C":
        named = _plain([words[2]])
        return posixpath.normpath(posixpath.join(folder, named[0])) if named else ""
    return folder


_LOOKS: dict[str, Callable[[Segment, list[str], str], Iterator[FactLook]]] = {
    "rm": _rm,
    "unlink": _rm,
    "shred": _rm,
    "rmdir": _rm,
    "find": _find,
    "mv": _onto,
    "cp": _onto,
    "kill": _kill,
    "git": _git,
}


Facts = list[Fact]
_Args = TypeVarTuple("_Args")
_Look_T = TypeVar("_Look_T")

_THREADS = 8
_room: RunVar[anyio.CapacityLimiter] = RunVar("the room for looks")


async def facts(look: FactLook, late: Callable[[], bool]) -> Facts:
    """Returns the facts of one look; counting stops when it is `late`."""
    if look.what in _OF_FILES:
        held = await _aside(count_files, look.folder, look.words, late)
        return await _OF_FILES[look.what](look, held)
    if look.what == "signals":
        return [_fact(look, text) for text in await _aside(_named, look.words)]
    repository = await open_repository(look.folder)
    if isinstance(repository, GitQuestions):
        return await _OF_GIT[look.what](look, repository)
    return [_fact(look, f"not looked at: {repository}")] if repository else []


async def _aside(look: Callable[[*_Args], _Look_T], *args: *_Args) -> _Look_T:
    """Looks in a thread that is not waited for any more when the time is up.

    One that hangs keeps its place, so these have places of their own: nobody else waits for them.
    """
    room = _room.get(None)
    if room is None:
        room = anyio.CapacityLimiter(_THREADS)
        _room.set(room)
    return await anyio.to_thread.run_sync(look, *args, abandon_on_cancel=True, limiter=room)


async def _removes(look: FactLook, held: FileCounts) -> Facts:
    if not held.files:
        nothing = f"nothing is there: {', '.join(held.missing)}"
        return [_fact(look, nothing if held.missing else "an empty folder")]
    repository = await open_repository(look.folder)
    text = f"{_files(held)}, {size_text(held.size_bytes)}"
    names = None
    if isinstance(repository, GitQuestions):
        names = await repository.text("ls-files", "--others", "-z", "--", *look.words)
    if names is None:
        return [_fact(look, text, grave=True)]
    untracked = sum(map(bool, names.split("\0")))
    text += f", {untracked:,} not in git" if untracked else ", all of them in git"
    return [_fact(look, text, grave=untracked > 0)]


async def _overwrites(look: FactLook, held: FileCounts) -> Facts:
    if held.folders or not (held.files or held.missing):
        return []
    if not held.files:
        return [_fact(look, "a new file")]
    text = f"there already: {_files(held)}, {size_text(held.size_bytes)}"
    repository = await open_repository(look.folder)
    changed = (
        await _changed_lines(look, repository) if isinstance(repository, GitQuestions) else None
    )
    if changed:
        text += f", {changed:,} changed lines not committed"
    return [_fact(look, text, grave=bool(changed))]


async def _discards(look: FactLook, git: GitQuestions) -> Facts:
    changed = await _changed_lines(look, git)
    if changed is None:
        return []
    if not changed:
        return [_fact(look, "no tracked file has changes")]
    return [_fact(look, f"loses {changed:,} changed {'line' if changed == 1 else 'lines'}", True)]


async def _untracked(look: FactLook, git: GitQuestions) -> Facts:
    paths = await git.lines("ls-files", "--others", "--exclude-standard", "--", *look.words)
    if paths is None:
        return []
    many = "file" if len(paths) == 1 else "files"
    return [_fact(look, f"{len(paths):,} untracked {many}", grave=bool(paths))]


async def _dropped_by_push(look: FactLook, git: GitQuestions) -> Facts:
    """Counts commits that the remote had when last fetched and the pushed branch has not."""
    remote = look.words[0] if look.words else ""
    named = look.words[1].lstrip("+").rpartition(":")[2] if len(look.words) > 1 else ""
    other = f"{remote}/{named}" if remote and named else "@{upstream}"
    mine = await git.lines("config", "--get", "user.email")
    authors = await git.lines("log", "--format=%ae", "--end-of-options", f"HEAD..{other}")
    if authors is None:
        return []
    if not authors:
        return [_fact(look, f"drops no commit of {other} as last fetched")]
    others = sum(author not in (mine or ()) for author in authors)
    authors_text = f", {others} of another author" if others else ", all your own"
    return [_fact(look, f"drops {_commits(len(authors))} of {other}{authors_text}", grave=True)]


async def _only_there(look: FactLook, git: GitQuestions) -> Facts:
    facts: Facts = []
    for name in look.words[:4]:
        elsewhere = (f"--exclude={name}", "--branches", "--remotes", "--tags")
        commits = await git.lines("rev-list", f"refs/heads/{name}", "--not", *elsewhere)
        if commits is not None:
            text = (
                f"{name}: {_commits(len(commits))} nowhere else" if commits else f"{name}: merged"
            )
            facts.append(_fact(look, text, grave=bool(commits)))
    return facts


async def _stashes(look: FactLook, git: GitQuestions) -> Facts:
    stashes = await git.lines("stash", "list")
    if stashes is None:
        return []
    many = "stash is" if len(stashes) == 1 else "stashes are"
    return [_fact(look, f"{len(stashes)} {many} kept", grave=bool(stashes))]


async def _changed_lines(look: FactLook, git: GitQuestions) -> int | None:
    """Counts lines that differ from the last commit; None where that is not known."""
    there = await _aside(existing_words, look.folder, look.words)
    plain = ("--no-ext-diff", "--no-textconv", "--ignore-submodules")
    rows = await git.lines("diff", *plain, "--numstat", "HEAD", "--", *there)
    return None if rows is None else sum(_changed(row) for row in rows)


def _changed(row: str) -> int:
    return sum(int(each) for each in row.split("\t")[:2] if each.isdecimal())


def _named(pids: tuple[str, ...]) -> list[str]:
    named = ((pid, command_line(pid)) for pid in pids[:4])
    return [f"{pid} is {line}" for pid, line in named if line]


def _files(held: FileCounts) -> str:
    more = "more than " if held.cut else ""
    return f"{more}{held.files:,} {'file' if held.files == 1 else 'files'}"


def _commits(count: int) -> str:
    return f"{count:,} commit" if count == 1 else f"{count:,} commits"


def _fact(look: FactLook, text: str, grave: bool = False) -> Fact:
    return Fact(text, look.segment, grave)


_OF_FILES: dict[LookKind, Callable[[FactLook, FileCounts], Awaitable[Facts]]] = {
    "removes": _removes,
    "overwrites": _overwrites,
}
_OF_GIT: dict[LookKind, Callable[[FactLook, GitQuestions], Awaitable[Facts]]] = {
    "discards": _discards,
    "discards-untracked": _untracked,
    "pushes": _dropped_by_push,
    "drops-branch": _only_there,
    "drops-stash": _stashes,
}

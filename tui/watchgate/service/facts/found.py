"""Turns looks into facts: one short phrase for each thing that would be touched or lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from watchgate.core.records import Fact
from watchgate.service.facts import files
from watchgate.service.facts.files import Held, size
from watchgate.service.facts.git import Git, open_at
from watchgate.service.facts.looks import Look, What

Facts = list[Fact]
_Args = TypeVarTuple("_Args")
_Look_T = TypeVar("_Look_T")

_THREADS = 8
_room: RunVar[anyio.CapacityLimiter] = RunVar("the room for looks")


async def facts(look: Look, late: Callable[[], bool]) -> Facts:
    """Returns the facts of one look; counting stops when it is `late`."""
    if look.what in _OF_FILES:
        held = await _aside(files.held, look.folder, look.words, late)
        return await _OF_FILES[look.what](look, held)
    if look.what == "signals":
        return [_fact(look, text) for text in await _aside(_named, look.words)]
    repository = await open_at(look.folder)
    if isinstance(repository, Git):
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


async def _removes(look: Look, held: Held) -> Facts:
    if not held.files:
        nothing = f"nothing is there: {', '.join(held.missing)}"
        return [_fact(look, nothing if held.missing else "an empty folder")]
    repository = await open_at(look.folder)
    text = f"{_files(held)}, {size(held.size_bytes)}"
    names = None
    if isinstance(repository, Git):
        names = await repository.text("ls-files", "--others", "-z", "--", *look.words)
    if names is None:
        return [_fact(look, text, grave=True)]
    untracked = sum(map(bool, names.split("\0")))
    text += f", {untracked:,} not in git" if untracked else ", all of them in git"
    return [_fact(look, text, grave=untracked > 0)]


async def _overwrites(look: Look, held: Held) -> Facts:
    if held.folders or not (held.files or held.missing):
        return []
    if not held.files:
        return [_fact(look, "a new file")]
    text = f"there already: {_files(held)}, {size(held.size_bytes)}"
    repository = await open_at(look.folder)
    changed = await _changed_lines(look, repository) if isinstance(repository, Git) else None
    if changed:
        text += f", {changed:,} changed lines not committed"
    return [_fact(look, text, grave=bool(changed))]


async def _discards(look: Look, git: Git) -> Facts:
    changed = await _changed_lines(look, git)
    if changed is None:
        return []
    if not changed:
        return [_fact(look, "no tracked file has changes")]
    return [_fact(look, f"loses {changed:,} changed {'line' if changed == 1 else 'lines'}", True)]


async def _untracked(look: Look, git: Git) -> Facts:
    paths = await git.lines("ls-files", "--others", "--exclude-standard", "--", *look.words)
    if paths is None:
        return []
    many = "file" if len(paths) == 1 else "files"
    return [_fact(look, f"{len(paths):,} untracked {many}", grave=bool(paths))]


async def _dropped_by_push(look: Look, git: Git) -> Facts:
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


async def _only_there(look: Look, git: Git) -> Facts:
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


async def _stashes(look: Look, git: Git) -> Facts:
    stashes = await git.lines("stash", "list")
    if stashes is None:
        return []
    many = "stash is" if len(stashes) == 1 else "stashes are"
    return [_fact(look, f"{len(stashes)} {many} kept", grave=bool(stashes))]


async def _changed_lines(look: Look, git: Git) -> int | None:
    """Counts lines that differ from the last commit; None where that is not known."""
    there = await _aside(files.there, look.folder, look.words)
    plain = ("--no-ext-diff", "--no-textconv", "--ignore-submodules")
    rows = await git.lines("diff", *plain, "--numstat", "HEAD", "--", *there)
    return None if rows is None else sum(_changed(row) for row in rows)


def _changed(row: str) -> int:
    return sum(int(each) for each in row.split("\t")[:2] if each.isdecimal())


def _named(pids: tuple[str, ...]) -> list[str]:
    named = ((pid, files.command_line(pid)) for pid in pids[:4])
    return [f"{pid} is {line}" for pid, line in named if line]


def _files(held: Held) -> str:
    more = "more than " if held.cut else ""
    return f"{more}{held.files:,} {'file' if held.files == 1 else 'files'}"


def _commits(count: int) -> str:
    return f"{count:,} commit" if count == 1 else f"{count:,} commits"


def _fact(look: Look, text: str, grave: bool = False) -> Fact:
    return Fact(text, look.segment, grave)


_OF_FILES: dict[What, Callable[[Look, Held], Awaitable[Facts]]] = {
    "removes": _removes,
    "overwrites": _overwrites,
}
_OF_GIT: dict[What, Callable[[Look, Git], Awaitable[Facts]]] = {
    "discards": _discards,
    "discards-untracked": _untracked,
    "pushes": _dropped_by_push,
    "drops-branch": _only_there,
    "drops-stash": _stashes,
}

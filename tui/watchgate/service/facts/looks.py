"""Chooses the looks that a pending call is worth, from its commands. Pure: looks at nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from watchgate.core import tool_input
from watchgate.core.policy.assessment import Segment
from watchgate.core.records import RequestData
from watchgate.core.tool_input import paths

What = Literal[
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


class Look(msgspec.Struct, frozen=True):
    """One thing to look at: the effect that the command would have there, and on which words.

    `folder` is where the command would run, absolute.
    """

    what: What
    folder: str
    words: tuple[str, ...]
    segment: int | None = None


def looks(data: RequestData, home: str) -> Iterator[Look]:
    """Yields the looks that a request is worth; words that only the run knows are left out."""
    if data.tool.cls == "edit":
        yield Look("overwrites", data.cwd, paths(data.tool))
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


def _rm(segment: Segment, operands: list[str], folder: str) -> Iterator[Look]:
    if named := _plain(operands):
        yield Look("removes", folder, named, segment.number)


def _find(segment: Segment, _operands: list[str], folder: str) -> Iterator[Look]:
    if _has(segment, "-delete", "-exec", "-execdir"):
        roots = segment.words[1:]
        first = next((i for i, w in enumerate(roots) if w.startswith(("-", "(", "!"))), len(roots))
        yield Look("removes", folder, _plain(list(roots[:first])) or (".",), segment.number)


def _onto(segment: Segment, operands: list[str], folder: str) -> Iterator[Look]:
    if len(operands) == 2 and (target := _plain(operands[1:])):
        yield Look("overwrites", folder, target, segment.number)


def _kill(segment: Segment, operands: list[str], folder: str) -> Iterator[Look]:
    if pids := tuple(word for word in operands if word.isdecimal()):
        yield Look("signals", folder, pids, segment.number)


def _git(segment: Segment, operands: list[str], folder: str) -> Iterator[Look]:
    verb, rest = (operands[0], operands[1:]) if operands else ("", [])
    where = _git_folder(segment, folder)
    if where != folder:
        verb, rest = (operands[1], operands[2:]) if len(operands) > 1 else ("", [])
    what: What | None = None
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
        yield Look(what, where, _plain(rest), segment.number)


def _git_folder(segment: Segment, folder: str) -> str:
    """Returns the folder git works in: `-C folder` moves it; empty if only the run knows it."""
    words = segment.words
    if len(words) > 2 and words[1] == "-C":
        named = _plain([words[2]])
        return posixpath.normpath(posixpath.join(folder, named[0])) if named else ""
    return folder


_LOOKS: dict[str, Callable[[Segment, list[str], str], Iterator[Look]]] = {
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

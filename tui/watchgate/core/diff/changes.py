"""Edits as lines taken away and lines added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher

import msgspec
from msgspec import json

from watchgate.core.diff.rows import Change, Sign
from watchgate.core.events import Tool
from watchgate.core.records import RequestData
from watchgate.core.redact import redact
from watchgate.core.secrets.finding import secrets

COMPARED_LINES = 100
"""Above so many lines two texts are shown one after the other: comparing them can take seconds."""


def replaced(old: list[str], new: list[str], *, bare: bool = False) -> list[Change]:
    """The lines of one change: compared, where it is one text in place of another.

    Secrets are covered unless `bare`: here, since one may be of many lines.
    """
    if len(old) == len(new) == 1:
        return difference(_ended(old[0]), _ended(new[0]), bare=bare)
    cover = cover_of(bare=bare)
    gone, come = ([cover(_ended(text)) for text in texts] for texts in (old, new))
    return [*_lines("-", gone), *_lines("+", come)]


def rewritten(data: RequestData, *, bare: bool = False) -> list[Change]:
    """Return what a handler or an operator made of the input that the agent sent."""
    if data.before is None:
        return []
    before = msgspec.structs.replace(data.tool, input=data.before)
    return difference(_as_json(before), _as_json(data.tool), bare=bare)


def difference(before: str, after: str, *, bare: bool = False) -> list[Change]:
    """The lines of a text that were taken away, added and kept on the way to another.

    Lines are compared as they are, so that one secret in place of another is a change.
    """
    if not bare and (_spread(before) or _spread(after)):
        return [*_lines("-", [redact(before)]), *_lines("+", [redact(after)])]
    old, new = before.split("\n"), after.split("\n")
    same = _alike(old, new)
    tail = _alike(old[same:][::-1], new[same:][::-1])
    stop_old, stop_new = len(old) - tail, len(new) - tail
    return [
        *_lines(" ", old[:same]),
        *_compared(old[same:stop_old], new[same:stop_new]),
        *_lines(" ", old[stop_old:]),
    ]


def patch_lines(patch: str) -> list[str]:
    """The lines of a patch, which end at LF or CR LF alone: nothing else in them is taken away."""
    return [line.removesuffix("\r") for line in patch.removesuffix("\n").split("\n")]


def patched(line: str) -> Change:
    """A line of a patch by its sign; what has none is told as it stands."""
    if line[:1] == "+":
        return "+", line[1:]
    return ("-", line[1:]) if line[:1] == "-" else (" ", line)


def cover_of(*, bare: bool) -> Callable[[str], str]:
    """Return what covers the secrets of a text, or leaves it as it is."""
    return _as_it_is if bare else redact


def _alike(old: list[str], new: list[str]) -> int:
    """Count the lines that two texts have in common at their beginning."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(old), len(new)))


def _compared(old: list[str], new: list[str]) -> list[Change]:
    if len(old) + len(new) > COMPARED_LINES:
        return [*_lines("-", old), *_lines("+", new)]
    changes: list[Change] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            changes += _lines(" ", old[a:b])
        else:
            changes += [*_lines("-", old[a:b]), *_lines("+", new[c:d])]
    return changes


def _ended(text: str) -> str:
    """The text without the newline that ends its last line: no empty line follows it."""
    return text.removesuffix("\n")


def _as_json(tool: Tool) -> str:
    """The command where only that is to be told, else the whole input."""
    rest = {key: value for key, value in tool.input.items() if key != "command"}
    command = tool.input.get("command")
    rest_text = json.format(json.encode(rest), indent=2).decode() if rest else ""
    return "\n".join(
        [*([command] if isinstance(command, str) else []), *([rest_text] if rest_text else [])]
    )


def _spread(text: str) -> bool:
    """Return whether a secret in the text has several lines: it is covered as a whole."""
    return any("\n" in text[each.start : each.end] for each in secrets(text))


def _as_it_is(text: str) -> str:
    return text


def _lines(sign: Sign, texts: Iterable[str]) -> Iterator[Change]:
    for text in texts:
        for line in text.split("\n"):
            yield sign, line.removesuffix("\r")

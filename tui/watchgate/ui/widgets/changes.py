"""What an edit changes, as lines taken away and lines added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Literal

import msgspec
from msgspec import json

from watchgate.core import tool_input
from watchgate.core.events import Tool
from watchgate.core.records import RequestData
from watchgate.core.redact import redact
from watchgate.core.secret_shapes import secrets
from watchgate.ui.palettes import Palette, Token
from watchgate.ui.widgets.command_text import plain
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.shown import COVERED, Look

COMPARED_LINES = 100
"""Above so many lines two texts are shown one after the other: comparing them can take seconds."""

Sign = Literal["+", "-", " "]
Change = tuple[Sign, str]

_INK: dict[Sign, tuple[Token, Token]] = {
    "+": ("add", "add_ground"),
    "-": ("del", "del_ground"),
    " ": ("dim", "bg"),
}


def changes(tool: Tool, *, bare: bool = False) -> list[Change]:
    """The lines of an edit with their signs; none for calls that edit nothing.

    Secrets are covered unless `bare`: here, since one may be of many lines.
    """
    if tool.cls != "edit":
        return []
    cover = _as_it_is if bare else redact
    if patch := tool_input.patch(tool):
        return [_patched(line) for line in cover(patch).splitlines()]
    found: list[Change] = []
    for old, new in tool_input.replacements(tool):
        if len(old) == len(new) == 1:
            found += difference(_ended(old[0]), _ended(new[0]), bare=bare)
        else:
            found += [*_lines("-", map(cover, old)), *_lines("+", map(cover, new))]
    return found


def rewritten(data: RequestData, *, bare: bool = False) -> list[Change]:
    """What a handler or an operator made of the input that the agent sent."""
    if data.before is None:
        return []
    before = msgspec.structs.replace(data.tool, input=data.before)
    return difference(_told(before), _told(data.tool), bare=bare)


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


def draw_changes(
    found: list[Change], cells: int, colors: Palette, how: Look = COVERED
) -> Iterator[Line]:
    """The lines on their grounds, wrapped; the sign stands at the first row of each."""
    how = msgspec.structs.replace(how, code=True)
    for sign, text in found:
        ink, ground = _INK[sign]
        for number, row in enumerate(plain(text, cells - 5, how)):
            line = Line(colors).to(2).add(f"{sign if number == 0 else ' '} ", ink, on=ground)
            for piece in row:
                shown: Token = ink if piece.ink == "fg" else piece.ink
                line.add(piece.text, shown, on=ground, reverse=piece.hidden)
            yield line.add(" " * (cells - 1 - line.left_cells), ink, on=ground)


def _patched(line: str) -> Change:
    if line[:1] == "+":
        return "+", line[1:]
    return ("-", line[1:]) if line[:1] == "-" else (" ", line)


def _alike(old: list[str], new: list[str]) -> int:
    """How many lines two texts have in common at their beginning."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(old), len(new)))


def _compared(old: list[str], new: list[str]) -> list[Change]:
    if len(old) + len(new) > COMPARED_LINES:
        return [*_lines("-", old), *_lines("+", new)]
    found: list[Change] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            found += _lines(" ", old[a:b])
        else:
            found += [*_lines("-", old[a:b]), *_lines("+", new[c:d])]
    return found


def _ended(text: str) -> str:
    """The text without the newline that ends its last line: no empty line follows it."""
    return text.removesuffix("\n")


def _told(tool: Tool) -> str:
    """The command where only that is to be told, else the whole input."""
    rest = {key: value for key, value in tool.input.items() if key != "command"}
    command = tool.input.get("command")
    told = json.format(json.encode(rest), indent=2).decode() if rest else ""
    return "\n".join([*([command] if isinstance(command, str) else []), *([told] if told else [])])


def _spread(text: str) -> bool:
    """Whether a secret in the text is of several lines: it can only be covered as a whole."""
    return any("\n" in text[each.start : each.end] for each in secrets(text))


def _as_it_is(text: str) -> str:
    return text


def _lines(sign: Sign, texts: Iterable[str]) -> Iterator[Change]:
    for text in texts:
        for line in text.split("\n"):
            yield sign, line.removesuffix("\r")

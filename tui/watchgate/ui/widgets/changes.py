"""What an edit changes, as lines taken away and lines added."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from watchgate.core import tool_input
from watchgate.core.events import Tool
from watchgate.ui.palettes import Palette, Token
from watchgate.ui.widgets.command_text import plain
from watchgate.ui.widgets.pane import Line

Sign = Literal["+", "-", " "]
Change = tuple[Sign, str]

_INK: dict[Sign, tuple[Token, Token]] = {
    "+": ("add", "add_ground"),
    "-": ("del", "del_ground"),
    " ": ("dim", "bg"),
}


def changes(tool: Tool) -> list[Change]:
    """The lines of an edit with their signs; none for calls that edit nothing."""
    if tool.cls != "edit":
        return []
    if patch := tool_input.patch(tool):
        return [_patched(line) for line in patch.splitlines()]
    found = tool_input.replacements(tool)
    return [change for old, new in found for change in (*_lines("-", old), *_lines("+", new))]


def draw_changes(found: list[Change], cells: int, colors: Palette) -> Iterator[Line]:
    """The lines on their grounds, wrapped; the sign stands at the first row of each."""
    for sign, text in found:
        ink, ground = _INK[sign]
        for number, row in enumerate(plain(text, cells - 5)):
            line = Line(colors).to(2).add(f"{sign if number == 0 else ' '} ", ink, on=ground)
            for piece in row:
                shown: Token = ink if piece.ink == "fg" else piece.ink
                line.add(piece.text, shown, on=ground, reverse=piece.hidden)
            yield line.add(" " * (cells - 1 - line.left_cells), ink, on=ground)


def _patched(line: str) -> Change:
    if line[:1] == "+":
        return "+", line[1:]
    return ("-", line[1:]) if line[:1] == "-" else (" ", line)


def _lines(sign: Sign, texts: list[str]) -> Iterator[Change]:
    for text in texts:
        for line in text.split("\n"):
            yield sign, line.removesuffix("\r")

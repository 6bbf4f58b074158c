"""Lines of coloured text as a terminal or an SVG shows them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from watchgate.ui.theming.palettes import Palette, Token

ELLIPSIS = "..."
BLOCK = "█"
PARTS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
"""Eighths of a cell, filled from the left."""

_ASCII_BARS = str.maketrans(dict.fromkeys((BLOCK, *PARTS[1:]), "#"))


class Span(msgspec.Struct, frozen=True):
    """A piece of one line; without an ink it has the terminal's own colour."""

    text: str
    ink: Token | None = None
    bold: bool = False


Line = tuple[Span, ...]


def width_of(line: Line) -> int:
    """Return how many cells a line takes."""
    from rich.cells import cell_len

    return sum(cell_len(span.text) for span in line)


def cut(text: str, cells: int) -> str:
    """The text, or as much of it as fits with an ellipsis behind it."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= cells:
        return text
    if cells <= len(ELLIPSIS):
        return ELLIPSIS[: max(0, cells)]
    return set_cell_size(text, cells - len(ELLIPSIS)).rstrip() + ELLIPSIS


def apart(left: Line, right: Line, cells: int) -> Line:
    """Two ends of one line; the right one is left out where there is no room for both."""
    room = cells - width_of(left) - width_of(right)
    return (*left, Span(" " * room), *right) if room >= 0 else left


def clipped(line: Line, cells: int) -> Line:
    """The line, or as much of it as fits."""
    parts = []
    for span in line:
        if cells > 0:
            parts.append(Span(cut(span.text, cells), span.ink, span.bold))
        cells -= width_of((span,))
    return tuple(parts)


def painted(lines: Iterable[Line], palette: Palette, *, ascii_only: bool) -> str:
    """The lines for stdout, in as many colours as it shows; plain where it is no terminal."""
    from rich.color import ColorSystem
    from rich.console import Console

    from watchgate.ui.theming.theme import fitted

    system = Console(file=sys.stdout).color_system if not os.environ.get("NO_COLOR") else None
    depth = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT}.get(
        system or "", ColorSystem.TRUECOLOR
    )
    fit = fitted(palette, system)
    made = []
    for line in lines:
        parts = [_styled(span, fit, depth if system else None) for span in line]
        text = "".join(parts).rstrip()
        made.append(_ascii(text.translate(_ASCII_BARS)) if ascii_only else text)
    return "\n".join(made) + "\n"


def _styled(span: Span, palette: Palette, depth: object) -> str:
    from rich.color import ColorSystem
    from rich.style import Style

    if not isinstance(depth, ColorSystem) or not span.text.strip():
        return span.text
    style = palette.style(span.ink, bold=span.bold) if span.ink else Style(bold=span.bold or None)
    return style.render(span.text, color_system=depth)


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode()

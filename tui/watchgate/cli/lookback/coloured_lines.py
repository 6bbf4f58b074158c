"""Lines of coloured text as a terminal or an SVG shows them.

- Lines of coloured text as an SVG that looks like a terminal's window.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from watchgate.ui.base.theme import Palette, Token


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
    """Returns the number of cells that a line takes."""
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

    from watchgate.ui.base.theme import fitted

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


_FONTS = "'Fira Code', 'DejaVu Sans Mono', Menlo, Consolas, monospace"
_SIZE_PX = 20
_CELL_PX = 12.2
_LINE_PX = 26
_BAR_PX = 42
_MARGIN_PX = 22
_BLOCKS = {BLOCK: 8, **{part: eighths for eighths, part in enumerate(PARTS) if part}}
_WORDS = re.compile(r"( *)((?:[^ ]+(?: (?! ))?)*)")
"""Blanks at the start and runs of several are steps: not every viewer keeps them."""

_BUTTONS = ("#ff5f57", "#febc2e", "#28c840")
_FRAME = {True: ("#292929", "#3a3d45"), False: ("#e5e7ee", "#c9cdd6")}
"""The window's own colours, by whether the theme is dark: its bar, and its edge."""


def svg(lines: Sequence[Line], palette: Palette, *, title: str, cells: int) -> str:
    """The picture as one file that names no font or address outside of itself."""
    width = round(cells * _CELL_PX + 2 * _MARGIN_PX)
    height = _BAR_PX + len(lines) * _LINE_PX + 2 * _MARGIN_PX
    bar, edge = _FRAME[palette.dark]
    colors = palette.colors
    style = f"font-family:{_FONTS};font-size:{_SIZE_PX}px;font-variant-ligatures:none"
    round_top = f"M1 {_BAR_PX}V11a10 10 0 0 1 10-10h{width - 22}a10 10 0 0 1 10 10V{_BAR_PX}z"
    named = f'text-anchor="middle" class="b" fill="{colors["dim"]}"'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title, quote=False)}</title>",
        f"<style>text{{{style};white-space:pre}}.b{{font-weight:bold}}</style>",
        _rect(0.5, 0.5, width - 1, height - 1, f'rx="10" fill="{colors["bg"]}" stroke="{edge}"'),
        f'<path d="{round_top}" fill="{bar}"/>',
        *(f'<circle cx="{24 + 22 * n}" cy="21" r="7" fill="{c}"/>' for n, c in enumerate(_BUTTONS)),
        f'<text x="{width / 2:g}" y="28" {named}>{escape(title, quote=False)}</text>',
    ]
    drawn = (each for row, line in enumerate(lines) for each in _line(line, row, palette))
    return "\n".join((*head, *drawn, "</svg>", ""))


def _line(line: Line, row: int, palette: Palette) -> list[str]:
    from rich.cells import cell_len

    top = _BAR_PX + _MARGIN_PX + row * _LINE_PX
    parts, cell = [], 0
    for span in line:
        color = palette.colors[span.ink or "fg"]
        for gap, words in _WORDS.findall(span.text):
            cell += len(gap)
            look = f'fill="{color}"' + (' class="b"' if span.bold else "")
            if words:
                parts.append(_drawn(words, cell, top, look))
                cell += cell_len(words)
    return parts


def _drawn(words: str, cell: int, top: int, look: str) -> str:
    from rich.cells import cell_len

    x = _MARGIN_PX + cell * _CELL_PX
    if _BLOCKS.keys() >= set(words):
        # Letters of a font do not touch each other, and not every font has parts of a block.
        eighths = sum(_BLOCKS[each] for each in words)
        return _rect(x, top + 5, eighths * _CELL_PX / 8, _LINE_PX - 12, f'rx="1.5" {look}')
    # Each span starts on its own cell, whatever font there is.
    length = cell_len(words) * _CELL_PX
    text = escape(words, quote=False)
    return f'<text x="{x:g}" y="{top + 19}" textLength="{length:g}" {look}>{text}</text>'


def _rect(x: float, y: float, width: float, height: float, look: str) -> str:
    """Draws a rectangle.

    Args:
        x: Left edge in pixels.
        y: Top edge in pixels.
        width: Width in pixels.
        height: Height in pixels.
        look: Further attributes.
    """
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {look}/>'

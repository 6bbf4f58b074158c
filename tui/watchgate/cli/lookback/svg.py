"""Lines of coloured text as an SVG that looks like a terminal's window."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from watchgate.cli.lookback.picture import BLOCK, PARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from watchgate.cli.lookback.picture import Line
    from watchgate.ui.theming.palettes import Palette

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
        f"<title>{escape(title)}</title>",
        f"<style>text{{{style};white-space:pre}}.b{{font-weight:bold}}</style>",
        _rect(0.5, 0.5, width - 1, height - 1, f'rx="10" fill="{colors["bg"]}" stroke="{edge}"'),
        f'<path d="{round_top}" fill="{bar}"/>',
        *(f'<circle cx="{24 + 22 * n}" cy="21" r="7" fill="{c}"/>' for n, c in enumerate(_BUTTONS)),
        f'<text x="{width / 2:g}" y="28" {named}>{escape(title)}</text>',
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
    return f'<text x="{x:g}" y="{top + 19}" textLength="{length:g}" {look}>{escape(words)}</text>'


def _rect(x: float, y: float, width: float, height: float, look: str) -> str:
    """Draw a rectangle.

    Args:
        x: Left edge in pixels.
        y: Top edge in pixels.
        width: Width in pixels.
        height: Height in pixels.
        look: Further attributes.
    """
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {look}/>'

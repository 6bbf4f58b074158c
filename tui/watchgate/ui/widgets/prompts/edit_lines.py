"""The editor before an allow: the call's text, then its changes and the core's assessment."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from watchgate.core.policy.assessment import Finding
from watchgate.ui.theming.palettes import Palette, Token
from watchgate.ui.widgets.diff.line_changes import Sign, line_changes
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.request.command_text import Piece, lay_out
from watchgate.ui.widgets.shown import Look

_INK: dict[Sign, tuple[Token, Token | None]] = {
    "+": ("add", "add_ground"),
    "-": ("del", "del_ground"),
    " ": ("dim", None),
}


class Marked(msgspec.Struct, frozen=True, kw_only=True):
    """The policy's view of the edited text, and whether secrets are shown (`bare`).

    `starts` are where its commands begin: what holds one is shown, whatever it looks like, and so
    is all of an `opaque` text, of which nobody knows where they begin.
    """

    findings: tuple[Finding, ...] = ()
    starts: tuple[int, ...] = ()
    opaque: bool = False
    bare: bool = False


def diff_lines(
    before: str,
    after: str,
    marked: Marked,
    cells: int,
    colors: Palette,
    ground: Token,
) -> Iterator[Line]:
    """Draws both texts wrapped to the width.

    Args:
        before: The text before the edit.
        after: The text after it.
        marked: Findings and starts, as places in `after`.
        cells: Width to draw at.
        colors: The palette.
        ground: Ground of the lines.
    """
    for sign, start, text in line_changes(before, after):
        old = sign == "-"
        marks = () if old else _within(marked.findings, start, start + len(text))
        starts = () if old else tuple(each - start for each in marked.starts)
        ink, own = _INK[sign]
        look = Look(marked.bare or (marked.opaque and not old), starts)
        for number, row in enumerate(lay_out(text, marks, cells - 5, masking=look)):
            line = Line(colors, ground).to(2)
            line.add(f"{sign if number == 0 else ' '} ", ink, on=own)
            for piece in row:
                _onto(line, piece, ink, own)
            yield line.add(" " * (cells - 1 - line.left_cells), ink, on=own)


def _onto(line: Line, piece: Piece, ink: Token, ground: Token | None) -> None:
    shown = ink if piece.ink == "fg" else piece.ink
    line.add(
        piece.text,
        shown,
        on=ground,
        bold=piece.marked,
        underline=piece.marked,
        reverse=piece.hidden,
    )


def _within(findings: tuple[Finding, ...], start: int, end: int) -> tuple[Finding, ...]:
    """Returns the findings about one line of the text, as spans of that line."""
    inside = []
    for each in findings:
        if each.span is not None and each.span[0] < end and start < each.span[1]:
            span = (max(0, each.span[0] - start), min(each.span[1], end) - start)
            inside.append(msgspec.structs.replace(each, span=span))
    return tuple(inside)

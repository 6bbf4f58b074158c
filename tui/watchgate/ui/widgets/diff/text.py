"""A difference as lines: in one column with both line numbers, or old and new side by side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec

from watchgate.core.diff.rows import Row
from watchgate.core.text import Span
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.request.command_text import Piece, marked, wrap
from watchgate.ui.widgets.shown import Look, shown


class Stretch(Piece, frozen=True, gc=False):
    """A piece of a line; `changed` where the other side has other words."""

    changed: bool = False


def rows_of(row: Row, cells: int, masking: Look) -> tuple[tuple[Piece, ...], ...]:
    """Wraps the line to so many cells; every character of it is in one of the rows."""
    masking = msgspec.structs.replace(masking, code=True)
    masked = shown(row.text, masking)
    words = tuple(masked.span(span) for span in row.words)
    return wrap(_worded(marked(masked, row.marks), words), max(1, cells))


def add_to(line: Line, row: tuple[Piece, ...], ink: Token, ground: Token | None) -> Line:
    """Adds one wrapped row in the ink of its side."""
    for piece in row:
        changed = isinstance(piece, Stretch) and piece.changed
        line.add(
            piece.text,
            ink if piece.ink == "fg" else piece.ink,
            on=ground,
            bold=piece.marked or changed,
            underline=piece.marked,
            reverse=piece.hidden,
        )
    return line


def _worded(pieces: Iterator[Piece], words: tuple[Span, ...]) -> Iterator[Piece]:
    """Yields the pieces, cut where changed words begin and end."""
    if not words:
        yield from pieces
        return
    edges = sorted({edge for span in words for edge in span})
    at = 0
    for piece in pieces:
        end = at + len(piece.text)
        cuts = [at, *(edge for edge in edges if at < edge < end), end]
        for first, last in pairwise(cuts):
            inside = any(start <= first < stop for start, stop in words)
            yield Stretch(
                piece.text[first - at : last - at], piece.ink, piece.marked, piece.hidden, inside
            )
        at = end

"""The filter of a list, read while it is typed; a fault is pointed at, Tab completes."""

from __future__ import annotations

from collections.abc import Sequence

from watchgate.core.filters import FilterError
from watchgate.ui.formats import DOTS, width
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.pane import Line

EXAMPLES = ("agent:codex", "risk>=high", "state:denied", "since:2h", '"rm -rf"', "-tool:Read")
_BETWEEN = "   "
_MORE = len(DOTS) + 2


def examples(line: Line, start: int, cells: int) -> Line:
    """Draws the language by example: as many as fit, and the key that lists its keys."""
    line.to(start)
    tail = "Tab lists the keys"
    room = cells - start - width(tail) - len(_BETWEEN)
    for text in EXAMPLES:
        if width(text) + len(_BETWEEN) <= room:
            line.add(text + _BETWEEN, "dim")
            room -= width(text) + len(_BETWEEN)
    return line.fit(tail, max(0, cells - line.left_cells), "dim")


def proposals(line: Line, texts: Sequence[str], chosen: int, start: int, cells: int) -> Line:
    """Draws the texts of which Tab takes one, in accent; those without room are dropped.

    Args:
        line: The line to add to.
        texts: The proposed texts.
        chosen: Index of the one that Tab takes.
        start: The cell to begin at.
        cells: Width of the line.
    """
    line.to(start).add("Tab", "dim")
    first = _first(texts, chosen, cells - line.left_cells)
    if first:
        line.add(" " + DOTS, "dim")
    for number, text in enumerate(texts[first:], first):
        gap = " " if number == first else "  "
        rest = _MORE if number + 1 < len(texts) else 0
        room = cells - line.left_cells - len(gap) - rest
        if number > chosen and width(text) > room:
            return line.add("  " + DOTS, "dim")
        ink: Token = "accent" if number == chosen else "dim"
        line.add(gap).fit(text, max(0, room), ink, bold=number == chosen)
    return line


def _first(texts: Sequence[str], chosen: int, cells: int) -> int:
    """Returns the first text to show, so that the chosen one has room."""
    room = cells - 1 - 2 * _MORE
    first = chosen
    used = width(texts[chosen])
    while first and used + 2 + width(texts[first - 1]) <= room:
        first -= 1
        used += 2 + width(texts[first])
    return first


def fault_line(
    line: Line, fault: FilterError, span: tuple[int, int], cells: int, lead: str
) -> Line:
    """Draws carets under a fault, and the words next to them where there is room.

    Args:
        line: The line to add to.
        fault: The fault.
        span: Its first cell and the one behind its last.
        cells: Width of the line.
        lead: Words before those of the fault.
    """
    start, end = span
    carets, words = "^" * max(1, min(end, cells) - start), lead + fault.message
    after = start + len(carets)
    if cells - after < start:
        line.to(2).fit(words, start - 3, bold=True)
        return line.to(start).add(carets, "accent", bold=True)
    line.to(start).add(carets, "accent", bold=True).add(" ")
    return line.fit(words, cells - line.left_cells, bold=True)

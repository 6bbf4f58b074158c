"""The queue: open requests by deadline, and below them the newest settled with their endings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from watchgate.core.as_asked import line_of
from watchgate.core.call_endings import ENDINGS
from watchgate.core.summary import in_columns
from watchgate.core.text import safe_text
from watchgate.core.views import PendingView, Settled
from watchgate.ui.covered import covered
from watchgate.ui.formats import clock, cut, cut_front, cut_name, person, short_id
from watchgate.ui.theming.palettes import Token
from watchgate.ui.theming.theme import RISK_GLYPH
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.queue.words import outcome
from watchgate.ui.widgets.request.countdown import words_right
from watchgate.ui.widgets.request.request_words import ASKED, subject_token

GLYPH, TEXT = 2, 6
TOOL_CELLS = 9
MARKED = "marked"
_LONGEST = 400


def pending_lines(
    lines: Sequence[Line],
    asked: PendingView,
    cells: int,
    left_s: float | None,
    *,
    chosen: bool,
    marked: bool,
    stale: bool,
) -> None:
    """Writes who asks and how long silence has, below it what for.

    Args:
        lines: The two lines to write.
        asked: The request.
        cells: Width of the lines.
        left_s: Seconds until silence decides, None where that is not known.
        chosen: Whether the cursor is on it.
        marked: Whether it is marked.
        stale: Whether the core is lost.
    """
    first, second = lines
    data = asked.data
    name: Token = "off" if stale else "fg"
    first.add(">" if chosen else " ", "off" if stale else "accent", bold=True).to(GLYPH)
    risk = data.asks == "approval"
    loud = not risk or data.risk not in ("low", "medium")
    glyph = RISK_GLYPH.get(data.risk, "!!") if risk else ASKED
    first.add(glyph, "off" if stale else subject_token(data), bold=loud and not stale).to(TEXT)
    if not stale:
        words_right(first, person(left_s) if left_s is not None else "-", left_s)
    first.right(" ")
    tool, call = in_columns(data.tool.name, data.summary, TOOL_CELLS)
    first.fit(safe_text(tool[:40]), TOOL_CELLS, name, bold=not stale).add("  ")
    ident = short_id(asked.id)
    room = cells - first.left_cells - first.right_cells - len(ident) - 3
    first.add(cut_name(safe_text(asked.label[:80]), max(3, room)), name, bold=not stale)
    first.add(f"  {ident}", "off" if stale else "dim")
    if marked:
        second.right(f"{MARKED} ", name, bold=True)
    room = cells - TEXT - 1 - (second.right_cells + 1 if marked else 0)
    _summary(second.to(TEXT), data.tool.cls, call, room, name)


def settled_lines(
    lines: Sequence[Line], ended: Settled, cells: int, *, zone: tzinfo | None, stale: bool
) -> None:
    """Writes what a settled request was about, below it when and how it ended.

    Args:
        lines: The two lines to write.
        ended: The request.
        cells: Width of the lines.
        zone: Time zone of the clock time, None for the local one.
        stale: Whether the core is lost.
    """
    first, second = lines
    glyph = ENDINGS[ended.word].glyph if ended.word in ENDINGS else "?"
    first.to(GLYPH).add(glyph, "off" if stale else "fg", bold=not stale).to(TEXT)
    summary, dots = cut(covered(line_of(ended)[:_LONGEST]), cells - TEXT - 1)
    first.add(summary, "off" if stale else "fg").add(dots, "dim")
    at = f"{clock(ended.at, zone)}  "
    second.to(TEXT).add(at, "off" if stale else "dim")
    room = cells - second.left_cells - 1
    second.fit(outcome(ended, room), room, "off" if stale else "dim")


def _summary(line: Line, cls: str, summary: str, cells: int, ink: Token) -> None:
    """Adds what is asked for; of a path the end, which names it best."""
    text = covered(summary[:_LONGEST])
    if cls in ("edit", "read"):
        line.add(cut_front(text, cells), ink)
    else:
        line.fit(text, cells, ink)

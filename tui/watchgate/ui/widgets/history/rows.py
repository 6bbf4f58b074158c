"""The recorded calls by day, the newest first: one line each, in columns."""

from __future__ import annotations

from datetime import datetime, tzinfo

import msgspec

from watchgate.core.as_asked import columns_of, line_of
from watchgate.core.history_row import HistoryRow
from watchgate.core.text import safe_text
from watchgate.ui.covered import covered
from watchgate.ui.deciding.consequences import title
from watchgate.ui.formats import clock, cut_name, width
from watchgate.ui.theming.palettes import Palette, Token
from watchgate.ui.theming.theme import RISK_GLYPH, RISK_TOKEN
from watchgate.ui.widgets.pane import Line

CURSOR = 2
MARGIN = 1
DAY_S = 86_400
NOT_KEPT = "not kept"

_ROUTINE = ("ran", "no result")
_LOUD = ("denied", "timed out", "failed", "pending", "ran ungated")


class Columns(msgspec.Struct, frozen=True):
    """Cells of each column, the blank behind it included; 0 leaves the column out."""

    session: int
    agent: int
    tool: int
    risk: int
    outcome: int
    by: int
    call: int
    time: int = 10


def columns(cells: int) -> Columns:
    """Returns the columns of a list of that width; the call takes the remaining cells."""
    if cells >= 112:
        sizes = (9, 9, 7, 5, 18, 14)
    elif cells >= 96:
        sizes = (9, 0, 7, 5, 18, 14)
    elif cells >= 80:
        sizes = (9, 0, 7, 5, 17, 0)
    else:
        sizes = (8, 0, 0, 4, 17, 0)
    return Columns(*sizes, call=max(0, cells - CURSOR - 10 - sum(sizes) - MARGIN))


def header(cells: int, colors: Palette) -> Line:
    """Returns the line of column names."""
    at = columns(cells)
    line = Line(colors).to(CURSOR).add("time".ljust(at.time), "dim")
    for name in ("session", "agent", "tool", "risk", "outcome", "by"):
        if getattr(at, name):
            line.add(("" if name == "risk" and at.risk < 5 else name).ljust(getattr(at, name)),
                     "dim")  # fmt: skip
    return line.add("call", "dim")


def day(at_us: int, now_us: int, zone: tzinfo | None) -> tuple[str, str]:
    """Returns a day as `Fri 20 Nov`, and how long ago it was in words."""
    date = datetime.fromtimestamp(at_us / 1_000_000, zone).date()
    today = datetime.fromtimestamp(now_us / 1_000_000, zone).date()
    name = f"{date:%a} {date.day} {date:%b}"
    if date.year != today.year:
        name += f" {date.year}"
    days = (today - date).days
    return name, {0: "today", 1: "yesterday"}.get(days, f"{days} days ago" if days > 0 else "")


def by_words(row: HistoryRow) -> str:
    """Returns who or what brought the outcome about."""
    if row.word == "answered-elsewhere":
        return f"in {title(row.agent)}"
    return safe_text(row.by)


def draw_past(
    row: HistoryRow,
    cells: int,
    colors: Palette,
    *,
    cursor: bool,
    stale: bool,
    zone: tzinfo | None,
) -> Line:
    """Draws one recorded call as a line of the list.

    Args:
        row: The call.
        cells: Width of the list.
        colors: The palette.
        cursor: Whether the cursor is on it.
        stale: Whether the core is lost.
        zone: Time zone of the clock times, None for the local one.
    """
    at = columns(cells)
    ground: Token = "sel" if cursor else "bg"
    quiet: Token = "dim"
    ink: Token = "dim" if row.outcome in _ROUTINE and not cursor else "fg"
    risk: Token = RISK_TOKEN.get(row.risk, "high")
    if row.alarm:
        ground, quiet, ink, risk = "alarm", "alarm_ink", "alarm_ink", "alarm_ink"
    elif stale:
        ground = "s2" if cursor else "bg"
        quiet = ink = risk = "off"
    marker: Token = "alarm_ink" if row.alarm else "dim" if stale else "accent"
    line = Line(colors, ground).add(">" if cursor else " ", marker, bold=True).to(CURSOR)
    line.add(clock(row.at, zone), quiet)
    column = CURSOR + at.time
    line.to(column).add(cut_name(safe_text(row.label[:80]), at.session - 1), ink)
    column += at.session
    if at.agent:
        line.to(column).fit(safe_text(row.agent[:80]), at.agent - 1, quiet)
        column += at.agent
    tool, call = columns_of(row, at.tool - 1) if at.tool else ("", line_of(row))
    if at.tool:
        line.to(column).fit(safe_text(tool[:80]) or "?", at.tool - 1, ink)
        column += at.tool
    grave = row.risk not in ("low", "medium")
    line.to(column).add(RISK_GLYPH.get(row.risk, "!!"), risk, bold=grave)
    column += at.risk
    loud = row.alarm or row.outcome in _LOUD
    outcome = f"{row.glyph} {row.outcome}" if row.glyph else row.outcome
    line.to(column).fit(outcome, at.outcome - 1, ink, bold=loud and (row.alarm or not stale))
    column += at.outcome
    if at.by:
        who = by_words(row)
        if row.word == "denied-by-rule" and width(who) > at.by - 1:
            who = "a rule"
        line.to(column).fit(who, at.by - 1, quiet)
        column += at.by
    line.to(column)
    if not row.summary:
        return line.fit(NOT_KEPT, at.call, quiet)
    return line.fit(covered(call)[: 4 * at.call + 8], at.call, ink, bold=row.alarm)

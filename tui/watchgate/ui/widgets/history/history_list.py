"""The recorded calls by day, the newest first: one line each, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from functools import partial

import msgspec
from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.message import Message

from watchgate.core.base.text import safe_text
from watchgate.core.history.history_row import HistoryRow
from watchgate.core.model.outcomes import ENDINGS
from watchgate.core.state.asked_call import columns_of, line_of
from watchgate.ui.base.formats import clock, covered, cut_name, width
from watchgate.ui.base.theme import RISK_GLYPH, RISK_TOKEN, Palette, Token
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.source.agent_titles import title
from watchgate.ui.source.recorded_calls import Past
from watchgate.ui.widgets.base.pane import Pane, StyledLine

CURSOR = 2
MARGIN = 1
DAY_S = 86_400
NOT_RECORDED = "not kept"

_ROUTINE = ("ran", "no result")
_LOUD = ("denied", "timed out", "failed", "pending", "ran ungated")


class HistoryColumns(msgspec.Struct, frozen=True):
    """Cells of each column, the blank behind it included; 0 leaves the column out."""

    session: int
    agent: int
    tool: int
    risk: int
    outcome: int
    by: int
    call: int
    time: int = 10


def columns(cells: int) -> HistoryColumns:
    """Returns the columns of a list of that width; the call takes the remaining cells."""
    if cells >= 112:
        sizes = (9, 9, 7, 5, 18, 14)
    elif cells >= 96:
        sizes = (9, 0, 7, 5, 18, 14)
    elif cells >= 80:
        sizes = (9, 0, 7, 5, 17, 0)
    else:
        sizes = (8, 0, 0, 4, 17, 0)
    return HistoryColumns(*sizes, call=max(0, cells - CURSOR - 10 - sum(sizes) - MARGIN))


def header(cells: int, colors: Palette) -> StyledLine:
    """Returns the line of column names."""
    at = columns(cells)
    line = StyledLine(colors).to(CURSOR).add("time".ljust(at.time), "dim")
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
    """Returns the name of the person or thing that brought the outcome about."""
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
) -> StyledLine:
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
    line = StyledLine(colors, ground).add(">" if cursor else " ", marker, bold=True).to(CURSOR)
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
        if width(who) > at.by - 1:
            ending = ENDINGS.get(row.word)
            who = (ending.short if ending else "") or who
        line.to(column).fit(who, at.by - 1, quiet)
        column += at.by
    line.to(column)
    if not row.summary:
        return line.fit(NOT_RECORDED, at.call, quiet)
    return line.fit(covered(call)[: 4 * at.call + 8], at.call, ink, bold=row.alarm)


WHEEL = 3
WITHIN_A_DAY_US = 900 * 1_000_000
"""Days begin at a quarter of an hour, in every zone."""


class HistoryView(msgspec.Struct, frozen=True):
    """The list's inputs besides its calls; `airy`: a blank line stands between two days."""

    version: int = -1
    now_us: int = 0
    narrowed: str = ""
    stale: bool = False
    airy: bool = False


class HistoryList(Pane):
    """Draws a `Past`, whose cursor is the list's and never moves by itself."""

    DEFAULT_CSS = "HistoryList { height: 1fr; width: 1fr; }"

    class Moved(Message):
        """The cursor is on another call, or near the oldest one."""

    def __init__(self, past: Past, *, zone: tzinfo | None = None) -> None:
        super().__init__()
        self._past = past
        self._zone = zone
        self._shown = HistoryView()
        self._top = 0
        self._heading = 1
        self._lines: list[int | str] = []
        self._visible: Sequence[int | str] = ()
        self._built: object = None

    def show(self, shown: HistoryView) -> None:
        """Shows the calls as they are now."""
        if shown != self._shown:
            self._shown = shown
            self.redraw()

    @property
    def room(self) -> int:
        """The number of lines for calls and days."""
        return max(1, self.size.height - self._heading)

    def move(self, by: int) -> None:
        """Moves the cursor by so many calls, no further than the first or last."""
        self._past.move(by)
        self.redraw()
        self.post_message(self.Moved())

    def page(self, pages: int) -> None:
        """Moves by what is visible."""
        self.move(pages * max(1, self.room - 2))

    def jumps(self) -> list[Jump]:
        """Returns the calls that are visible now."""
        x, y, _, _ = self.region
        return [
            Jump(x, y + self._heading + at, partial(self._go, line), of=("past", self._row(line)))
            for at, line in enumerate(self._visible)
            if isinstance(line, int)
        ]

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        lines = self._head(cells)
        self._heading = len(lines)
        self._lay_out(airy=self._shown.airy)
        self._scroll(max(1, rows - len(lines)))
        self._visible = self._lines[self._top : self._top + max(1, rows - len(lines))]
        return lines + [self._line(each, cells) for each in self._visible]

    def on_click(self, event: Click) -> None:
        number = event.y - self._heading
        if 0 <= number < len(self._visible):
            line = self._visible[number]
            if isinstance(line, int):
                self._go(line)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.move(-WHEEL)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.move(WHEEL)

    def _go(self, index: int) -> None:
        self._past.put(index)
        self.redraw()
        self.post_message(self.Moved())

    def _row(self, index: int) -> int:
        return self._past.rows[index].first if index < len(self._past.rows) else -1

    def _head(self, cells: int) -> list[StyledLine]:
        shown, lines = self._shown, []
        if shown.narrowed:
            line = (
                self.line()
                .to(2)
                .add("/ ", "accent", bold=True)
                .right(f"{key_for('back')} clears ", "dim")
            )
            room = cells - line.left_cells - line.right_cells - 2
            lines.append(line.fit(safe_text(shown.narrowed), room, bold=True))
            lines += [self.line()] if shown.airy else []
        return [*lines, header(cells, self.inks)]

    def _lay_out(self, *, airy: bool) -> None:
        """Lays out the lines of the whole list: calls, names of days, and gaps."""
        past = self._past
        key = (past.listed, airy, self._shown.now_us // 60_000_000)
        if key == self._built:
            return
        self._built, self._lines = key, []
        before = ""
        names: dict[int, str] = {}
        for index, row in enumerate(past.rows):
            part = row.at // WITHIN_A_DAY_US
            name = names.get(part) or names.setdefault(part, self._day(row))
            if name != before:
                self._lines += ["", name] if before and airy else [name]
                before = name
            self._lines.append(index)

    def _day(self, row: HistoryRow) -> str:
        name, ago = day(row.at, self._shown.now_us, self._zone)
        return f"{name}\t{ago}"

    def _scroll(self, room: int) -> None:
        """Scrolls so that the cursor is in view, and the day of the first call with it."""
        index = self._past.index
        place = next((n for n, line in enumerate(self._lines) if line == index), 0)
        first = place if place > 1 else 0
        self._top = min(max(self._top, place - room + 1), first)
        self._top = max(0, min(self._top, len(self._lines) - room))

    def _line(self, line: int | str, cells: int) -> StyledLine:
        if isinstance(line, str):
            name, _, ago = line.partition("\t")
            ink = "off" if self._shown.stale else "dim"
            bold = self.line().to(2).add(name, "off" if self._shown.stale else "fg", bold=True)
            return bold.add(f"   {ago}", "off" if ink == "off" else "dim") if ago else bold
        return draw_past(
            self._past.rows[line],
            cells,
            self.inks,
            cursor=line == self._past.index,
            stale=self._shown.stale,
            zone=self._zone,
        )

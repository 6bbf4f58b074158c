"""The live table: 100,000 calls in a ring, of which only the visible lines cost anything."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from functools import partial

from textual.cache import LRUCache
from textual.events import Click, MouseScrollDown, MouseScrollUp, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from watchgate.core.base.bounded import Ring
from watchgate.core.base.text import safe_text
from watchgate.core.model.call_row import CallRow
from watchgate.core.state.state import State
from watchgate.ui.base.formats import short_names
from watchgate.ui.base.theme import palette
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.calls.call_columns import (
    CURSOR,
    RowLook,
    columns,
    draw_call,
    elapsed_cell,
    header,
    state_cell,
)
from watchgate.ui.widgets.calls.ring_rows import RingRows

HEADER = 1
WHEEL = 3
CACHED_STRIPS = 128

Keep = Callable[[CallRow], bool]
VisibleRow = tuple[int, CallRow, str]


def _ticking(row: CallRow, now_us: int) -> str:
    """Returns the part of an unfinished row that changes with time."""
    return state_cell(row, now_us) if row.stage == "pending" else elapsed_cell(row, now_us)


class RingTable(Widget, can_focus=True):
    """Draws calls by the line, the newest at the bottom.

    The cursor belongs to a row's ring number and never moves by itself. `follow` keeps the newest
    row in view; moving up ends it, `to_end` turns it on again.
    """

    DEFAULT_CSS = "RingTable { height: 1fr; width: 1fr; }"
    FOCUS_ON_CLICK = False
    """A click puts the cursor; the keys stay with the prompt that may be open."""

    class Moved(Message):
        """The operator moved the cursor, or scrolled."""

    def __init__(self, *, zone: tzinfo | None = None) -> None:
        super().__init__(id="calls", markup=False)
        self.follow = True
        self._zone = zone
        self._ring: Ring[CallRow] = Ring(1)
        self._rows: RingRows[CallRow] = RingRows()
        self._keep: Keep | None = None
        self._cursor: int | None = None
        self._top = 0
        self._visible_end = 0
        self._now_us = 0
        self._stale = False
        self._hosts = False
        self._shown: list[VisibleRow] = []
        self._labels: frozenset[str] = frozenset()
        self._short_of: tuple[frozenset[str], int] | None = None
        self._short_names: dict[str, str] = {}
        self._was: tuple[int, int, int, bool] | None = None
        self._was_at: tuple[int | None, Size] | None = None
        self._strips: LRUCache[tuple[int, int, str, RowLook, str], tuple[CallRow, Strip]] = (
            LRUCache(CACHED_STRIPS)
        )

    @property
    def selected(self) -> CallRow | None:
        """The call under the cursor, while it is shown."""
        if self._cursor is None or self._cursor not in self._ring:
            return None
        index = self._rows.index(self._cursor)
        shown = index < len(self._rows) and self._rows.number(index) == self._cursor
        return self._ring[self._cursor] if shown else None

    @property
    def wanted(self) -> Keep | None:
        """The filter that narrows the shown calls."""
        return self._keep

    @property
    def new_count(self) -> int:
        """The number of rows added below the last visible one since following ended."""
        if self.follow:
            return 0
        return max(0, len(self._rows) - self._rows.index(self._visible_end))

    def show(self, state: State, now_us: int, *, stale: bool = False) -> None:
        """Takes the newest picture; repaints only the lines that look different."""
        now = (id(state.rows), state.rows.revision, now_us // 1_000_000, stale)
        if now == self._was and self._rows.searched:
            return
        self._was = now
        self._now_us = now_us
        labels = frozenset(safe_text(view.label[:80]) for view in state.sessions.values())
        if labels != self._labels:
            self._labels = labels
            self.refresh()
        if (stale, bool(state.hosts)) != (self._stale, self._hosts):
            self._stale, self._hosts = stale, bool(state.hosts)
            self.refresh()
        if state.rows is not self._ring:
            self._take_over(state)
        self._rows.update(self._ring)
        self._redraw()

    def _catch_up(self) -> None:
        """Forgets rows that fell out of the ring since the last picture, before any is touched."""
        self._rows.forget(self._ring.first)

    def keep(self, wanted: Keep | None) -> None:
        """Shows only the calls that a filter wants, or all again."""
        self._keep = wanted
        self._rows = RingRows(wanted)
        self._rows.update(self._ring)
        self._redraw()

    def move(self, lines: int) -> None:
        """Moves the cursor; going up ends following."""
        self._catch_up()
        if not len(self._rows):
            return
        index = self._cursor_index()
        first, last = self._window()
        if not first <= index <= last:
            index = last if self.follow or index > last else first
        if lines < 0:
            self._stop_following()
        self._put_cursor(index + lines)

    def page(self, pages: int) -> None:
        """Moves by what is visible."""
        self.move(pages * max(1, self._height - 1))

    def to_top(self) -> None:
        """Goes to the oldest call."""
        self._catch_up()
        self._stop_following()
        self._put_cursor(0)

    def to_end(self) -> None:
        """Goes to the newest call, and follows from now on."""
        self._catch_up()
        self.follow = True
        self._put_cursor(len(self._rows) - 1)

    def select(self, number: int) -> None:
        """Puts the cursor on a row by its ring number, if it is shown."""
        self._catch_up()
        index = self._rows.index(number)
        if index < len(self._rows) and self._rows.number(index) == number:
            self._put_cursor(index)

    def jumps(self) -> list[Jump]:
        """Returns the calls that are visible now."""
        x, y, _, _ = self.region
        return [
            Jump(x, y + HEADER + line, partial(self.select, number), of=("call", number))
            for line, (number, _, _) in enumerate(self._shown)
        ]

    def render_line(self, y: int) -> Strip:
        """Renders the header, or the line of one visible call."""
        cells = self.size.width
        colors = palette(self.app.theme)
        if y < HEADER:
            return header(cells, colors, hosts=self._hosts).strip(cells)
        if y - HEADER >= len(self._shown):
            return self._empty_line(y, cells)
        number, row, time = self._shown[y - HEADER]
        name = self._short(cells).get(safe_text(row.label[:80]), "")
        look = RowLook(number == self._cursor, self.has_focus, self._stale, self._hosts, name)
        key = (number, cells, colors.name, look, time)
        cached = self._strips.get(key)
        if cached is not None and cached[0] is row:
            return cached[1]
        line = draw_call(row, cells, colors, look, self._now_us, self._zone)
        strip = line.strip(cells)
        self._strips[key] = (row, strip)
        return strip

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_resize(self, event: Resize) -> None:
        self._catch_up()
        self._redraw()

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self._scroll(-WHEEL)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self._scroll(WHEEL)

    def on_click(self, event: Click) -> None:
        line = event.y - HEADER
        if 0 <= line < len(self._shown):
            self.select(self._shown[line][0])

    def _short(self, cells: int) -> dict[str, str]:
        """Returns the names of all sessions, shortened to their column."""
        key = self._labels, columns(cells, hosts=self._hosts).session - 1
        if key != self._short_of:
            self._short_of = key
            self._short_names = short_names(*key)
        return self._short_names

    @property
    def _height(self) -> int:
        return max(0, self.size.height - HEADER)

    def _take_over(self, state: State) -> None:
        """Starts with another core's rows: numbers begin anew, the cursor stays on its call."""
        self._cursor, top, visible_end = (
            self._place_in(state, number)
            for number in (self._cursor, self._top, self._visible_end - 1)
        )
        self._ring = state.rows
        self._rows = RingRows(self._keep)
        self.follow = self.follow or self._cursor is None
        self._top = self._cursor or 0 if top is None else top
        self._visible_end = (self._cursor or 0) if visible_end is None else visible_end + 1
        self._strips.clear()

    def _place_in(self, state: State, number: int | None) -> int | None:
        """Returns the number that the call with this number has in another picture."""
        if number is None or number not in self._ring:
            return None
        row = self._ring[number]
        return state.calls.number((row.agent, row.session, row.call))

    def _window(self) -> tuple[int, int]:
        """Returns the first and the last visible line."""
        count = len(self._rows)
        deepest = max(0, count - self._height)
        first = deepest if self.follow else min(self._rows.index(self._top), deepest)
        return first, min(count, first + self._height) - 1

    def _cursor_index(self) -> int:
        return self._rows.index(self._cursor if self._cursor is not None else self._ring.end)

    def _put_cursor(self, index: int) -> None:
        count = len(self._rows)
        if not count:
            return
        index = min(max(0, index), count - 1)
        self._cursor = self._rows.number(index)
        first, last = self._window()
        if index < first:
            self._stop_following()
            self._top = self._cursor
        elif index > last:
            self._top = self._rows.number(index - self._height + 1)
        self._redraw()
        self.post_message(self.Moved())

    def _scroll(self, lines: int) -> None:
        self._catch_up()
        first, _ = self._window()
        target = min(max(0, first + lines), max(0, len(self._rows) - self._height))
        if target < first:
            self._stop_following()
        if target != first:
            self._top = self._rows.number(target)
            self._redraw()
            self.post_message(self.Moved())

    def _stop_following(self) -> None:
        if self.follow and len(self._rows):
            first, _ = self._window()
            self.follow = False
            self._top = self._rows.number(first)
            self._visible_end = self._ring.end

    def _redraw(self) -> None:
        """Finds the visible lines that changed, and repaints those."""
        count = len(self._rows)
        if (self._cursor is None or self._keep is not None) and self._rows.searched and count:
            # What a filter leaves out has no cursor: it goes to the call that is next to it.
            self._cursor = self._rows.number(min(self._cursor_index(), count - 1))
        first, last = self._window()
        before = self._shown
        self._shown = [self._entry(self._rows.number(i)) for i in range(first, last + 1)]
        if self._shown and not self.follow:
            self._visible_end = max(self._visible_end, self._shown[-1][0] + 1)
        at = self._cursor, self.size
        changed = [
            y
            for y, (old, new) in enumerate(zip(before, self._shown, strict=False))
            if old[0] != new[0] or old[1] is not new[1] or old[2] != new[2]
        ]
        if at != self._was_at or len(before) != len(self._shown):
            self._was_at = at
            self.refresh()
        elif len(changed) > self._height // 2:
            self.refresh()
        elif changed:
            width = self.size.width
            self.refresh(*(Region(0, HEADER + y, width, 1) for y in changed))

    def _entry(self, number: int) -> VisibleRow:
        row = self._ring[number]
        open_ended = row.ended_at is None and not self._stale
        return number, row, _ticking(row, self._now_us) if open_ended else ""

    def _empty_line(self, y: int, cells: int) -> Strip:
        line = StyledLine(palette(self.app.theme))
        if y == HEADER + 1 and self._keep is not None and not len(self._rows):
            line.to(CURSOR)
            if self._rows.searched:
                line.add("no call matches the filter").add(
                    f"   {key_for('back')}", "accent", bold=True
                )
                line.add(" clears it", "dim")
            else:
                line.add("looking through older calls", "dim")
        return line.strip(cells)

"""The recorded calls by day, the newest first: one line each, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from functools import partial

import msgspec
from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.message import Message

from watchgate.core.history_row import HistoryRow
from watchgate.core.text import safe_text
from watchgate.ui.keys.jumping import Jump
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.past.calls import Past
from watchgate.ui.widgets.history.rows import day, draw_past, header
from watchgate.ui.widgets.pane import Line, Pane

WHEEL = 3
WITHIN_A_DAY_US = 900 * 1_000_000
"""Days begin at a quarter of an hour, in every zone."""


class Shown(msgspec.Struct, frozen=True):
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
        self._shown = Shown()
        self._top = 0
        self._heading = 1
        self._lines: list[int | str] = []
        self._visible: Sequence[int | str] = ()
        self._built: object = None

    def show(self, shown: Shown) -> None:
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

    def draw(self, cells: int, rows: int) -> list[Line]:
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

    def _head(self, cells: int) -> list[Line]:
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

    def _line(self, line: int | str, cells: int) -> Line:
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

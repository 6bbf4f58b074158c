"""The calls that have traces: one line each, the newest at the bottom, narrowed by a filter."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from functools import partial

import msgspec
from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.message import Message

from watchgate.core.amounts import count
from watchgate.core.text import safe_text
from watchgate.core.traces import Key, TracedCall
from watchgate.core.views import CallRow
from watchgate.ui.covered import covered
from watchgate.ui.formats import clock, cut_name
from watchgate.ui.keys.jumping import Jump
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.pane import Line, Pane
from watchgate.ui.widgets.traces.words import columns, whole

WHEEL = 3
AIRY_FROM = 26
SLOW_MS = 100
TIME, GLYPH, SESSION, TOOL, SUMMARY = 2, 12, 14, 23, 32
SUMMARY_FROM = 56
"""From so many cells a line also tells what the call was."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A line of the list: its traces, its call's row, and the glyph of how the call ended."""

    call: TracedCall
    glyph: str = ""
    alarm: bool = False
    row: CallRow | None = None


class TraceList(Pane):
    """The cursor belongs to a call and never moves by itself; at the newest one it follows."""

    DEFAULT_CSS = "TraceList { width: 38; height: 1fr; }"

    ground: Token = "s1"

    class Moved(Message):
        """The cursor is on another call."""

    def __init__(self, *, zone: tzinfo | None = None) -> None:
        super().__init__()
        self._zone = zone
        self._entries: Sequence[Entry] = ()
        self._narrowed = ""
        self._stale = False
        self._active = True
        self._cursor: Key | None = None
        self._index = 0
        self._top = 0
        self._end = 0
        self.follow = True

    @property
    def selected(self) -> Entry | None:
        """The call under the cursor."""
        return self._entries[self._index] if self._entries else None

    def show(self, entries: Sequence[Entry], *, narrowed: str = "", stale: bool = False) -> None:
        """Shows these lines, the oldest first; `narrowed` is the filter that they passed."""
        if (entries, narrowed, stale) == (self._entries, self._narrowed, self._stale):
            return
        self._entries, self._narrowed, self._stale = entries, narrowed, stale
        self._index = self._place()
        self._cursor = entries[self._index].call.key if entries else None
        if self.follow:
            self._end = len(entries)
        self.redraw()

    def set_full_width(self, *, alone: bool) -> None:
        """Sets whether it has the whole width, as the table of the monitor."""
        ground: Token = "bg" if alone else "s1"
        if ground != self.ground:
            self.ground = ground
            self.set_class(alone, "-alone")
            self.redraw()

    def activate(self, *, active: bool) -> None:
        """Sets whether the keys that move belong to this list."""
        if active != self._active:
            self._active = active
            self.redraw()

    def move(self, by: int) -> None:
        """Moves the cursor by so many calls, no further than the first or last."""
        last = len(self._entries) - 1
        self._put(min(max(0, self._index + by), last))
        self.follow = self.follow if by < 0 else self._index == last
        if by < 0:
            self.follow = False
        if self.follow:
            self._end = len(self._entries)
        self.redraw()

    def page(self, pages: int) -> None:
        """Moves by what is visible."""
        self.move(pages * max(1, self.size.height - 3))

    def jumps(self) -> list[Jump]:
        """Returns the calls that are visible now."""
        x, y, _, rows = self.region
        visible = self._entries[self._top : self._top + max(0, rows - self._heading)]
        return [
            Jump(x, y + self._heading + line, partial(self._go_to, entry.call.key), entry.call.key)
            for line, entry in enumerate(visible)
        ]

    def _go_to(self, key: Key) -> None:
        """Puts the cursor on a call, if it is still there."""
        for number, entry in enumerate(self._entries):
            if entry.call.key == key:
                self.move(number - self._index)
                return

    def draw(self, cells: int, rows: int) -> list[Line]:
        head = self.line().to(TIME).add("calls", "dim")
        new = len(self._entries) - self._end
        if new > 0:
            head.add(f"   +{count(new)} new", "fg").add(
                f"  {key_for('bottom')}", "accent", bold=True
            )
        lines = [head.right("in hooks ", "dim")]
        if rows >= AIRY_FROM:
            lines.append(self.line())
        if not self._entries:
            lines.append(self.line().to(TIME).fit(f"none passes {self._narrowed}", cells - 3))
            lines.append(
                self.line().to(TIME).add(key_for("back"), "accent", bold=True).add(" clears it")
            )
            return lines
        self._heading, room = len(lines), max(1, rows - len(lines))
        self._scroll(room)
        shown = self._entries[self._top : self._top + room]
        return lines + [
            self._entry(entry, cells, chosen=number == self._index)
            for number, entry in enumerate(shown, start=self._top)
        ]

    def on_click(self, event: Click) -> None:
        number = self._top + event.y - self._heading
        if event.y >= self._heading and number < len(self._entries):
            self.move(number - self._index)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.move(-WHEEL)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.move(WHEEL)

    _heading = 1

    def _place(self) -> int:
        """Returns the index of the cursor's call, or of the newest one where that is gone."""
        last = max(0, len(self._entries) - 1)
        places = range(last, -1, -1) if self._entries else ()
        return next((n for n in places if self._entries[n].call.key == self._cursor), last)

    def _put(self, index: int) -> None:
        if not self._entries or index == self._index:
            return
        self._index = index
        self._cursor = self._entries[index].call.key
        self.post_message(self.Moved())

    def _scroll(self, room: int) -> None:
        """Scrolls so that the cursor is in view, and the newest call while following."""
        deepest = max(0, len(self._entries) - room)
        top = deepest if self.follow else min(self._top, deepest)
        self._top = min(max(top, self._index - room + 1), self._index)

    def _entry(self, entry: Entry, cells: int, *, chosen: bool) -> Line:
        call, ms = entry.call, entry.call.took_ms
        ground: Token = ("sel" if self._active else "s2") if chosen else self.ground
        ink: Token = "off" if self._stale else ("fg" if chosen else "dim")
        loud: Token = "off" if self._stale else "fg"
        marker: Token = "accent" if self._active and not self._stale else "dim"
        line = self.line(ground).add(">" if chosen else " ", marker, bold=True).to(TIME)
        line.add(clock(call.at, self._zone), "off" if self._stale else "dim").to(GLYPH)
        line.add("#" if entry.alarm else entry.glyph, loud, bold=True).to(SESSION)
        line.add(cut_name(safe_text(call.label[:80]), TOOL - SESSION - 1), ink).to(TOOL)
        took = whole(ms)
        slow = ms >= SLOW_MS
        line.right(f"{took} ", loud if slow else ink, bold=slow)
        wide = cells >= SUMMARY_FROM
        room = (SUMMARY if wide else cells - line.right_cells) - TOOL - 1
        tool, words = columns(call, entry.row, room)
        line.fit(safe_text((tool if call.key[2] else _family(call))[:80]), room, ink)
        if wide:
            room = cells - SUMMARY - line.right_cells - 1
            words = words or call.traces[0].data.native
            line.to(SUMMARY).fit(covered(words)[: 4 * room + 8], room, ink)
        return line


def _family(call: TracedCall) -> str:
    """Returns the kind of event in one word: `prompt`, `session`, `turn`."""
    return call.traces[0].data.kind.partition(".")[0]

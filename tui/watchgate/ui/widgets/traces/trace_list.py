"""The calls that have traces: one line each, the newest at the bottom, narrowed by a filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from functools import partial
from typing import Final

import msgspec
from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.message import Message

from watchgate.core.base.amounts import count
from watchgate.core.base.text import safe_text
from watchgate.core.filters.filter_fields import ROW_FIELDS
from watchgate.core.filters.filter_parser import Filter, Getter, Value
from watchgate.core.history.history_row import decider_names, host_of, session_names
from watchgate.core.model.call_row import CallRow
from watchgate.core.state.state import State
from watchgate.core.state.traces import Key, TracedCall, TraceView, decided_in_ms, group_traces
from watchgate.ui.base.formats import clock, covered, cut_name
from watchgate.ui.base.theme import Token
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.traces.trace_words import (
    columns,
    ended,
    verdict,
    whole_ms,
    why_ignored,
    why_skipped,
)

Keep = Callable[[TracedCall, CallRow | None], bool]
Traced = tuple[TraceView, CallRow | None]
"""One dispatch, and the row of its call where there is one."""


def matching(wanted: Filter) -> Keep | None:
    """Returns the test of a call that a filter means; None when everything passes.

    Bare words look into the call, and into the names and words of its handlers.
    """
    fits = wanted.over(_TRACE_FIELDS)
    if fits is None:
        return None
    return lambda call, row: any(fits((trace, row)) for trace in call.traces)


def _of_row(name: str) -> Getter[Traced]:
    get = ROW_FIELDS[name]
    return lambda traced: get(traced[1]) if traced[1] is not None else None


def _by(traced: Traced) -> Value:
    """Returns the handler that decided, and who ended the call's question."""
    trace, row = traced
    return decider_names(trace.data.decided_by or "", row.word if row is not None else "")


def _text(traced: Traced) -> str:
    data = traced[0].data
    words = [data.native, data.summary, data.reason]
    for row in data.rows:
        words += (row.handler, verdict(row, data), row.detail)
        words.append(why_skipped(row) if row.status == "skipped" else why_ignored(row))
    return "  ".join(words)


_TRACE_FIELDS: Final[Mapping[str, Getter[Traced]]] = {
    **{name: _of_row(name) for name in ("lane", "risk", "state", "rule", "request")},
    "agent": lambda traced: traced[0].agent,
    "session": lambda traced: session_names(traced[0].label, traced[0].session),
    "host": lambda traced: host_of(traced[0].session),
    "tool": lambda traced: traced[0].data.tool or None,
    "kind": lambda traced: (traced[0].data.kind, "hook.trace"),
    "by": _by,
    "call": lambda traced: traced[0].call or None,
    "waited": _of_row("waited"),
    "took": lambda traced: int(decided_in_ms(traced[0].data)),
    "at": lambda traced: traced[0].at,
    "text": _text,
}


WHEEL = 3
AIRY_FROM = 26
SLOW_MS = 100
TIME, GLYPH, SESSION, TOOL, SUMMARY = 2, 12, 14, 23, 32
SUMMARY_FROM = 56
"""From so many cells a line also tells what the call was."""


class TraceEntry(msgspec.Struct, frozen=True, gc=False):
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
        self._entries: Sequence[TraceEntry] = ()
        self._narrowed = ""
        self._stale = False
        self._active = True
        self._cursor: Key | None = None
        self._index = 0
        self._top = 0
        self._end = 0
        self.follow = True

    @property
    def selected(self) -> TraceEntry | None:
        """The call under the cursor."""
        return self._entries[self._index] if self._entries else None

    def show(
        self, entries: Sequence[TraceEntry], *, narrowed: str = "", stale: bool = False
    ) -> None:
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

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
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

    def _entry(self, entry: TraceEntry, cells: int, *, chosen: bool) -> StyledLine:
        call, ms = entry.call, entry.call.took_ms
        ground: Token = ("sel" if self._active else "s2") if chosen else self.ground
        ink: Token = "off" if self._stale else ("fg" if chosen else "dim")
        loud: Token = "off" if self._stale else "fg"
        marker: Token = "accent" if self._active and not self._stale else "dim"
        line = self.line(ground).add(">" if chosen else " ", marker, bold=True).to(TIME)
        line.add(clock(call.at, self._zone), "off" if self._stale else "dim").to(GLYPH)
        line.add("#" if entry.alarm else entry.glyph, loud, bold=True).to(SESSION)
        line.add(cut_name(safe_text(call.label[:80]), TOOL - SESSION - 1), ink).to(TOOL)
        took = whole_ms(ms)
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


class _CachedEntry(msgspec.Struct, frozen=True, gc=False):
    """A cached line with its sources; `entry` is None where the filter drops it."""

    views: list[TraceView]
    call: TracedCall
    row: CallRow | None
    entry: TraceEntry | None


class TraceEntries:
    """Makes the lines of a state: under load a few change, ten times a second.

    `keep` is the filter that they pass, None without one.
    """

    def __init__(self, keep: Keep | None = None) -> None:
        self._keep = keep
        self._made: dict[Key, _CachedEntry] = {}

    def of(self, state: State) -> list[TraceEntry]:
        """Returns the lines of this state in the order in which each first appears."""
        by_call: dict[Key, list[TraceView]] = {}
        for trace in state.traces.ring:
            by_call.setdefault(trace.key, []).append(trace)
        before = self._made
        self._made = {
            key: self._again(before.get(key), views, state) for key, views in by_call.items()
        }
        return [made.entry for made in self._made.values() if made.entry is not None]

    def _again(
        self, made: _CachedEntry | None, views: list[TraceView], state: State
    ) -> _CachedEntry:
        call = made.call if made is not None and made.views == views else group_traces(views)[0]
        row = row_of(state, call)
        if made is not None and made.call is call and made.row is row:
            return made
        passes = self._keep is None or self._keep(call, row)
        return _CachedEntry(views, call, row, _entry(call, row) if passes else None)


def row_of(state: State, call: TracedCall) -> CallRow | None:
    """Returns the row of a traced call, while it is in memory."""
    return state.calls.get(call.key[:3]) if call.key[2] else None


def _entry(call: TracedCall, row: CallRow | None) -> TraceEntry:
    glyph, _ = ended(call.decisive, row)
    return TraceEntry(call, glyph, alarm=row is not None and row.alarm, row=row)

"""The traces: every call's hooks as a waterfall, and the chosen handler in full."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from textual.widget import Widget

from watchgate.core.base.text import safe_text
from watchgate.core.filters.filter_parser import parse
from watchgate.core.state.state import State
from watchgate.core.state.traces import DAY_US, SlowestHandler, TracedCall, slowest
from watchgate.ui.base.formats import cut, cut_front
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.screens.screen_frame import Frame
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.key_bars import Part
from watchgate.ui.widgets.traces.trace_list import (
    TraceEntries,
    TraceEntry,
    TraceList,
    matching,
    row_of,
)
from watchgate.ui.widgets.traces.trace_page import SNIPPET, TraceEmpty, TraceEmptyKind, TracePage
from watchgate.ui.widgets.traces.trace_words import whole_ms


class TracesScreen(Frame):
    """The list has the keys, or (after Enter) the waterfall of the call chosen there."""

    tab = "Traces"
    narrowed = ""

    def __init__(self) -> None:
        super().__init__()
        self.where = "traces"
        self.list = TraceList()
        self.page_of_call = TracePage()
        self.empty = TraceEmpty()
        self._lines = TraceEntries()
        self._entries: list[TraceEntry] = []
        self._state = State(max_rows=1)
        self._was: object = None
        self._slowest: tuple[object, SlowestHandler | None, bool] = (None, None, True)
        self._side_by_side = True
        self._now_us = 0

    def body(self) -> Iterable[Widget]:
        """The list with the waterfall beside it, or either where there is no room for both."""
        yield self.list
        yield self.page_of_call
        yield self.empty

    @property
    def selected(self) -> TracedCall | None:
        """The call under the cursor."""
        entry = self.list.selected
        return entry.call if entry is not None else None

    @property
    def copied(self) -> str:
        """Returns the text to copy: the call under the cursor, or lines that add a hook."""
        call = self.selected
        return (call.summary or call.tool) if call is not None else SNIPPET

    def show(self, moment: ViewModel) -> None:
        """Shows the moment; a frozen view keeps its traces."""
        self._now_us = moment.now_us
        if moment.frozen_us is None:
            self._take(moment)
        super().show(moment)
        kind = _empty(moment)
        inside = self.where == "trace"
        self._side_by_side = moment.shape.sidebar or moment.shape.detail
        self.empty.display = kind is not None
        self.list.display = kind is None and (self._side_by_side or not inside)
        self.page_of_call.display = kind is None and (self._side_by_side or inside)
        self.list.set_full_width(alone=not self._side_by_side)
        if kind is not None:
            self.empty.show(kind)
            return
        narrowed = self.narrowed or ""
        self.list.show(self._entries, narrowed=narrowed, stale=moment.link.lost)
        self._show_call()

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """The filter, and which hook is the slowest."""
        parts = super().aside(moment)
        if parts:
            return parts
        if self.narrowed:
            shown, dots = cut(safe_text(self.narrowed), 40 if moment.context.wide else 20)
            return (("/ ", "dim", False), (shown, "fg", True), (dots, "dim", False))
        _, slowest, all_day = self._slowest
        if slowest is None:
            return ()
        name = cut_front(safe_text(slowest.handler), 24 if moment.context.wide else 10)
        when = "slowest hook today " if all_day else "slowest hook lately "
        return (
            (when if moment.context.wide else "slowest ", "dim", False),
            (name, "fg", False),
            ("  p95 ", "dim", False),
            (whole_ms(slowest.p95_ms), "fg", True),
        )

    def move(self, lines: int) -> None:
        """Moves among the calls, or among the handlers of one."""
        if self.where == "trace":
            self.page_of_call.move(lines)
        else:
            self.list.move(lines)

    def page(self, pages: int) -> None:
        """Moves by what is visible, or scrolls the text about a handler."""
        if self.where == "trace":
            self.page_of_call.page(pages)
        else:
            self.list.page(pages)

    def enter(self) -> bool:
        """Gives the keys to the waterfall."""
        if self.selected is not None:
            self._go("trace")
        return True

    def leave(self) -> bool:
        """Goes back to the list, then clears its filter; returns whether it left anything."""
        if self.where == "trace":
            self._go("traces")
            return True
        if self.narrowed:
            return self.narrow("")
        return False

    def jumps(self) -> Sequence[Jump]:
        """The calls of the list; going to one gives the list the keys."""
        if not self.list.display:
            return ()
        return [Jump(j.x, j.y, partial(self._jump, j.go), j.of) for j in self.list.jumps()]

    def _jump(self, go: Callable[[], None]) -> None:
        self._go("traces")
        go()

    def narrow(self, text: str) -> bool:
        """Shows only what a filter keeps, which has been read before; all again without one."""
        self.narrowed = text
        self._lines = TraceEntries(matching(parse(text, now_us=self._now_us)))
        self._was = None
        return True

    def on_trace_list_moved(self, event: TraceList.Moved) -> None:
        event.stop()
        self._show_call()

    def on_trace_page_entered(self, event: TracePage.Entered) -> None:
        event.stop()
        self._go("trace")

    def _go(self, where: str) -> None:
        inside = where == "trace"
        self.where = "trace" if inside else "traces"
        self.list.activate(active=not inside)
        self.page_of_call.activate(active=inside)

    def _show_call(self) -> None:
        call = self.selected
        row = row_of(self._state, call) if call is not None else None
        self.page_of_call.show(call, row)

    def _take(self, moment: ViewModel) -> None:
        """Groups the traces anew, if anything about them changed."""
        state = moment.state
        now = (state, state.traces.ring.revision, state.rows.revision)
        if now == self._was:
            return
        self._was, self._state = now, state
        self._entries = self._lines.of(state)
        self._time(moment)

    def _time(self, moment: ViewModel) -> None:
        """Finds the slowest hook; once a second, since it reads every trace."""
        ring = moment.state.traces.ring
        key = (ring, ring.revision and moment.now_us // 1_000_000)
        if key != self._slowest[0]:
            day_us = moment.now_us
            all_day = len(ring) < ring.capacity or ring[ring.first].at < day_us - day_us % DAY_US
            self._slowest = (key, slowest(ring, day_us), all_day)


def _empty(moment: ViewModel) -> TraceEmptyKind | None:
    if moment.link.state == "connecting":
        return "connecting"
    if len(moment.state.traces.ring):
        return None
    return "no-core" if moment.link.lost else "no-trace"

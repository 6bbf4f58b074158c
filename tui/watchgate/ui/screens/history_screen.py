"""The history: recorded calls by day, found by the filter language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.containers import Container
from textual.widget import Widget

from watchgate.core.base.amounts import count
from watchgate.core.base.text import safe_text
from watchgate.core.filters.filter_parser import parse
from watchgate.core.history.history_row import HistoryRow
from watchgate.ui.costs.call_usage import asked_by
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.keymap import Where
from watchgate.ui.screens.screen_frame import Frame
from watchgate.ui.source.record_source import CoreCall
from watchgate.ui.source.recorded_calls import Past, Seeker, nobody
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.history.history_detail import HistoryDetail
from watchgate.ui.widgets.history.history_empty import EmptyReason, HistoryEmpty
from watchgate.ui.widgets.history.history_list import HistoryList, HistoryView
from watchgate.ui.widgets.key_bars import Part

SIDE_FROM, SIDE_CELLS = 160, 58
BELOW_FROM, BELOW_ROWS = 36, 16
"""From so many rows of the terminal the call under the cursor is told below the list."""

NEWS_EVERY_US = 1_000_000
AGAIN_EVERY_US = 5_000_000
AHEAD = 60
"""The number of calls below the cursor that are fetched before it gets there."""


class HistoryScreen(Frame):
    """The list has the keys, or (after Enter) the timeline of the call chosen there."""

    tab = "History"

    def __init__(
        self, call: CoreCall = nobody, past: Past | None = None, where: Where = "history"
    ) -> None:
        """Shows what `call` finds; it runs in the background, never while a key is read.

        `past` is what was found before, where this screen takes the place of another.
        """
        super().__init__()
        self.where = where
        self.past = past or Past()
        self.narrowed = self.past.filter
        self._call = call
        self.list = HistoryList(self.past)
        self.detail = HistoryDetail()
        self.empty = HistoryEmpty()
        self.both = Container(self.list, self.detail, id="past")
        self._seeker = Seeker(call, self.past, self._redraw)
        self._moment: ViewModel | None = None
        self._attached: object = None
        self._read_up_to = (0, 0)
        self._fetching: set[tuple[int, int]] = set()

    def body(self) -> Iterable[Widget]:
        """The list with the call under the cursor beside or below it, as far as there is room."""
        yield self.both
        yield self.empty

    @property
    def selected(self) -> HistoryRow | None:
        """The call under the cursor."""
        return self.past.selected

    @property
    def items(self) -> int:
        """Returns the number of listed calls."""
        return len(self.past.rows)

    @property
    def copied(self) -> str | None:
        """Returns the text to copy: the call under the cursor."""
        row = self.selected
        return (row.summary or row.tool) if row is not None else None

    def show(self, moment: ViewModel) -> None:
        """Shows the moment; a frozen view takes no new calls."""
        self._moment = moment
        self._follow(moment)
        super().show(moment)
        self._draw(moment)

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Returns the count of calls found, out of the records searched."""
        past = self.past
        if moment.link.lost:
            return super().aside(moment)
        records = count(past.records or moment.state.seq)
        if self._seeker.busy and (not past.begun or not past.rows):
            looked = f"{count(past.looked_at)} of " if past.begun else ""
            return ((f"looking ...  {looked}{records} records", "dim", False),)
        if past.fault and past.rows:
            return (("not up to date: the last search failed", "fg", True),)
        if not past.begun:
            return ()
        where = f"of {safe_text(past.host)}, host:NAME shows another   " if past.host else ""
        part = "" if past.next is None else f"in {count(past.looked_at)} "
        summary = f"{count(len(past.rows))} {part}of {records} records"
        return ((where if moment.context.wide else "", "fg", False), (summary, "dim", False))

    @property
    def playable(self) -> tuple[str, str] | None:
        """The session of the call under the cursor."""
        row = self.selected
        return (row.agent, row.session) if row is not None else None

    def once_more(self) -> HistoryScreen:
        """The history with the same calls, filter and cursor."""
        return HistoryScreen(self._call, self.past, self.where)

    def move(self, lines: int) -> None:
        """Moves among the calls, or scrolls the timeline of one."""
        if self.where == "timeline":
            self.detail.move(lines)
        else:
            self.list.move(lines)

    def page(self, pages: int) -> None:
        """Moves by what is visible."""
        if self.where == "timeline":
            self.detail.page(pages)
        else:
            self.list.page(pages)

    def enter(self) -> bool:
        """Opens the timeline of the call under the cursor."""
        if self.selected is not None:
            self._go("timeline")
        return True

    def leave(self) -> bool:
        """Goes back to the list, then clears its filter; returns whether it left anything."""
        if self.where == "timeline":
            self._go("history")
            return True
        if self.narrowed:
            return self.narrow("")
        return False

    def narrow(self, text: str) -> bool:
        """Searches for what a filter takes; it has been read before."""
        if text != self.narrowed:
            self.narrowed = text
            now_us = self._moment.now_us if self._moment is not None else 0
            self.past.ask(text, str(parse(text, now_us=now_us).pinned()))
            self._seek()
            self._redraw()
        return True

    def jumps(self) -> Sequence[Jump]:
        """The calls that are visible now."""
        return self.list.jumps() if self.list.display and self.both.display else ()

    def on_history_list_moved(self, event: HistoryList.Moved) -> None:
        event.stop()
        self._seek()
        self._redraw()

    def _go(self, where: str) -> None:
        self.where = "timeline" if where == "timeline" else "history"
        self._redraw()

    def _follow(self, moment: ViewModel) -> None:
        """Asks for what the moment makes necessary: all of it anew, or what came since."""
        link = moment.link
        if link.state != "attached":
            return
        attached = (moment.state.core, link.since_us)
        if attached != self._attached:
            self._attached = attached
            self._read_up_to = (moment.state.seq, moment.now_us)
            self._seeker.forget()
            self.past.ask(self.past.filter, self.past.sent)
            self._seek()
            return
        if self.past.fault and not self.past.begun and not self._seeker.busy:
            self._again(moment.now_us)
            return
        seq, at_us = self._read_up_to
        due = moment.now_us - at_us >= NEWS_EVERY_US or moment.now_us < at_us
        idle = not self._seeker.busy and self.past.begun and moment.frozen_us is None
        if moment.state.seq != seq and due and idle:
            self._read_up_to = (moment.state.seq, moment.now_us)
            self.run_worker(self._news(), group="past", exclusive=False)

    def _again(self, now_us: int) -> None:
        """Asks once more where there was no answer, after a while."""
        if abs(now_us - self._read_up_to[1]) >= AGAIN_EVERY_US:
            self._read_up_to = (self._read_up_to[0], now_us)
            self._seek()

    def _seek(self) -> None:
        """Asks for more calls if the cursor comes near the end of those that are there."""
        self._seeker.wanted = self.past.index + AHEAD + self.list.size.height
        wants = not self.past.begun or len(self.past.rows) < self._seeker.wanted
        if wants and self.past.more and not self._seeker.busy:
            self.run_worker(self._sought(), group="past", exclusive=False)

    async def _sought(self) -> None:
        await self._seeker.seek()
        self._asked()

    async def _news(self) -> None:
        await self._seeker.news()
        self._asked()

    def _asked(self) -> None:
        """Shows what came; a filter that changed meanwhile is asked for now."""
        if not self.past.begun and not self.past.fault:
            self._seek()
        self._redraw()

    async def _fetched(self, row: HistoryRow) -> None:
        key = row.first, row.last
        try:
            await self._seeker.fetch(row)
        finally:
            self._fetching.discard(key)
        self._redraw()

    def _redraw(self) -> None:
        """Shows the past as it is now; strip, aside and footer follow with the next moment."""
        self.revision += 1
        if self._moment is not None and self.is_current:
            self._draw(self._moment)

    def _draw(self, moment: ViewModel) -> None:
        past, shape, stale = self.past, moment.shape, moment.link.lost
        nothing = not past.rows
        self.both.display, self.empty.display = not nothing, nothing
        if nothing:
            self.where = "history"
            self.empty.show(
                EmptyReason(
                    looking=not past.begun or self._seeker.busy,
                    lost=stale,
                    fault=past.fault,
                    narrowed=self.narrowed or "",
                    records=past.records,
                    relaxed=past.relaxed,
                )
            )
            return
        side_by_side = shape.columns >= SIDE_FROM
        below = not side_by_side and shape.rows >= BELOW_FROM
        inside = self.where == "timeline"
        self.list.display, self.detail.display = not inside, inside or side_by_side or below
        self.both.styles.layout = "horizontal" if side_by_side else "vertical"
        self.detail.styles.width = SIDE_CELLS if side_by_side and not inside else "1fr"
        self.detail.styles.height = BELOW_ROWS if below and not inside else "1fr"
        self.detail.set_below(below=below and not inside)
        self.list.show(
            HistoryView(past.version, moment.now_us, self.narrowed or "", stale, shape.tall)
        )
        if self.detail.display:
            self._show_call(moment, whole=inside)

    def _show_call(self, moment: ViewModel, *, whole: bool) -> None:
        row = self.selected
        records = self._seeker.timeline(row) if row is not None else None
        if row is not None and records is None:
            key = row.first, row.last
            if key not in self._fetching and not moment.link.lost and len(self._fetching) < 2:
                self._fetching.add(key)
                self.run_worker(self._fetched(row), group="past", exclusive=False)
        self.detail.show(
            row,
            records,
            moment.now_us,
            home_dir=moment.home,
            whole=whole,
            stale=moment.link.lost,
            asked=asked_by(moment.state.usage, row.agent, row.session, row.call) if row else "",
        )

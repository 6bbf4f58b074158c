"""The monitor: sessions, live calls with the newest at the bottom, and the request in the dock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from textual.widget import Widget

from watchgate.core.base.amounts import count
from watchgate.ui.base.formats import cut
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.screens.screen_frame import Frame
from watchgate.ui.view_model.console_options import Options
from watchgate.ui.view_model.overview import awaits_first_call
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.calls.call_table import RingTable
from watchgate.ui.widgets.key_bars import Part
from watchgate.ui.widgets.monitor_empty import MonitorEmpty, MonitorEmptyKind
from watchgate.ui.widgets.queue.tiny_queue import TinyQueue
from watchgate.ui.widgets.request.request_detail import Detail
from watchgate.ui.widgets.session.session_list import Sessions


class MonitorScreen(Frame):
    """The first screen; everything else opens above it."""

    tab = "Monitor"
    full_dock = True
    lists_tiny = True
    shows_request = True

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.sessions = Sessions()
        self.table = RingTable()
        self.empty = MonitorEmpty(demo=options.open_demo is None)
        self.tiny = TinyQueue()
        self.detail = Detail(home=options.home, next_to_table=True)
        for part in (self.sessions, self.table, self.tiny, self.detail):
            part.display = False
        self.listed = False

    def body(self) -> Iterable[Widget]:
        """Sessions, calls and detail beside each other, as far as they fit."""
        yield self.sessions
        yield self.table
        yield self.empty
        yield self.tiny
        yield self.detail

    def on_mount(self) -> None:
        self.table.focus()

    def show(self, moment: ViewModel) -> None:
        """Shows the moment; a frozen view keeps its calls and sessions, the deadlines go on."""
        super().show(moment)
        shape = moment.shape
        kind = self._empty(moment)
        self.tiny.display = shape.tiny
        self.empty.display = kind is not None and not shape.tiny
        self.table.display = kind is None and not shape.tiny
        self.sessions.display = self.table.display and (shape.sidebar or self.listed)
        self.sessions.set_class(self.listed and not shape.sidebar, "-over")
        self.detail.display = self.table.display and shape.detail
        if self.table.display and self.focused is None:
            self.regain()  # the focus was lost where the table had no room
        if shape.tiny:
            self.tiny.show(moment)
        elif kind is not None:
            self.empty.show(kind, moment)
        else:
            self._show_calls(moment)

    def _show_calls(self, moment: ViewModel) -> None:
        state, now_us, stale = moment.state, moment.now_us, moment.link.lost
        if moment.frozen_us is None:
            self.table.show(state, now_us, stale=stale)
            if self.sessions.display:
                self.sessions.show(state, now_us, stale=stale)
        if self.detail.display:
            self.detail.show(self.table.selected, state, now_us)

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Returns the words that say whether the table follows, and what it is filtered by."""
        lost = super().aside(moment)
        if lost or not len(moment.state.rows):
            return lost
        wide, follows = moment.context.wide, self.table.follow
        shown: tuple[Part, ...] = ()
        if moment.filter:
            text, dots = cut(moment.filter, 40 if wide else 20)
            shown = (("/ ", "dim", False), (text, "fg", True), (dots, "dim", False))
            if not wide:
                return shown
            shown = (*shown, ("   ", "dim", False))
        if moment.skipped and (wide or follows):
            skipped = f"{count(moment.skipped)} records left out"
            if not wide:
                return ((skipped, "fg", False),)
            shown = (*shown, (f"{skipped}   ", "fg", False))
        return (*shown, *self._following(wide=wide))

    def _following(self, *, wide: bool) -> tuple[Part, ...]:
        follow: Part = ("follow ", "dim", False)
        if self.table.follow:
            return (follow, ("on", "fg", True))
        new = self.table.new_count
        off: tuple[Part, ...] = (follow, ("off", "fg", True))
        if new:
            off = (*off, (f"  +{count(new)} new", "fg", False))
        if not wide:
            return off
        turn_on: tuple[Part, ...] = (
            (key_for("bottom"), "accent", True),
            (" turns it on", "dim", False),
        )
        return (*off, (", " if new else "  ", "dim", False), *turn_on)

    def list_sessions(self) -> None:
        """Goes to the sessions, over the table where there is no sidebar; again goes back."""
        if self.listed:
            self.leave_sessions()
        else:
            self.listed = True
            self.sessions.display = True
            self.sessions.focus()

    def leave_sessions(self) -> bool:
        """Goes back to the table; returns whether the sessions had the keys."""
        was, self.listed = self.listed, False
        self.table.focus()
        return was

    def regain(self) -> None:
        """Gives the keys back to whichever pane had them before a prompt."""
        (self.sessions if self.listed else self.table).focus()

    def jumps(self) -> Sequence[Jump]:
        """The sessions, while their list has the keys, and the calls as far as they are seen."""
        if self.tiny.display or not self.table.display:
            return ()
        over = self.sessions.display and self.sessions.has_class("-over")
        there = [] if over else [self._to_call(each) for each in self.table.jumps()]
        if self.sessions.display:
            there += [self._to_session(each) for each in self.sessions.jumps()]
        return there

    def _to_call(self, jump: Jump) -> Jump:
        def go() -> None:
            self.leave_sessions()
            jump.go()

        return msgspec.structs.replace(jump, go=go)

    def _to_session(self, jump: Jump) -> Jump:
        def go() -> None:
            if not self.listed:
                self.list_sessions()
            jump.go()

        return msgspec.structs.replace(jump, go=go)

    def move(self, lines: int) -> None:
        """Moves the cursor of whichever pane has the keys."""
        if self.listed:
            self.sessions.move(lines)
        else:
            self.table.move(lines)

    def page(self, pages: int) -> None:
        """Moves by what is visible."""
        if self.listed:
            self.sessions.move(pages * 5)
        else:
            self.table.page(pages)

    def _empty(self, moment: ViewModel) -> MonitorEmptyKind | None:
        if moment.link.state == "connecting":
            return "connecting"
        if len(moment.state.rows):
            return None
        if moment.link.lost:
            return "no-core"
        if moment.skipped:
            return "left-out"
        return "no-call" if awaits_first_call(moment.state) else "no-session"

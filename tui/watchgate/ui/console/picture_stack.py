"""The stack of pictures: the console's own core, and for a while a demo or a replay above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from watchgate.core.model.records import Record
from watchgate.ui.source.core_bridge import Bridge
from watchgate.ui.source.replay_source import ReplayView, view_of
from watchgate.ui.view_model.overview import Waiting, farewell, waiting_view

if TYPE_CHECKING:
    from watchgate.core.model.call_row import CallRow
    from watchgate.ui.commands.console import Console
    from watchgate.ui.source.replay_source import Recording

REPLAY_GROUP = "replay"
DEMO_GROUP = "demo"


class _Left(msgspec.Struct, frozen=True):
    """A picture that was left for a while, for one that is read by `group`, and the way back."""

    bridge: Bridge
    demo: bool
    recording: Recording | None
    back: Callable[[], None]
    group: str


class PictureStack:
    """The picture that is shown, and those below it.

    Notices of the core go on while another picture is shown, so that nobody waits unseen.
    """

    def __init__(self, console: Console, recording: Recording | None, *, demo: bool) -> None:
        """A console on a core, or with a `recording` on that alone."""
        self._console = console
        self._left: list[_Left] = []
        self._ticked_s: float | None = None
        self.recording = recording
        self.demo = demo

    @property
    def live(self) -> Bridge | None:
        """The console's own core, whatever is shown; none where only a recording is."""
        if self._left:
            return self._left[0].bridge
        return self._console.bridge if self.recording is None else None

    @property
    def live_is_demo(self) -> bool:
        """Returns whether the console's own core is a demo."""
        return self._left[0].demo if self._left else self.demo

    @property
    def waiting(self) -> Waiting:
        """The requests that are open at the console's own core while something else is shown."""
        if not self._left:
            return Waiting()
        bridge = self._left[0].bridge
        return waiting_view(bridge.state, bridge.now_us())

    @property
    def replaying(self) -> bool:
        """Returns whether a recording is shown."""
        return self.recording is not None

    @property
    def view(self) -> ReplayView | None:
        """Returns the replay's position and speed; None where there is no replay."""
        if self.recording is None:
            return None
        return view_of(self.recording.player)

    @property
    def ends_core(self) -> bool:
        """Returns whether leaving ends the core that gates agents: it runs inside this console."""
        hosted = self._console.options.hosted and not self.demo
        return hosted and self.recording is None and not self._console.bridge.link.lost

    @property
    def ends(self) -> str:
        """Returns the name of the thing that would be left, with what ends or goes on."""
        if self.recording is not None:
            return "the replay"
        if self.demo:
            return "the demo"
        if self._console.options.hosted:
            return "the console and ends its core: hooks that gate deny then"
        return "the console, the core goes on"

    def tick(self, now_s: float) -> None:
        """Lets the replay go on by the time that has passed (`now_s` monotonic)."""
        last_s, self._ticked_s = self._ticked_s, now_s
        if self.recording is not None and last_s is not None:
            self.recording.player.advance(now_s - last_s)
            self.recording.moved()

    def play_demo(self) -> None:
        """Shows the demo's core until the operator leaves it; not while a request is open."""
        console = self._console
        open_demo = console.options.open_demo
        if open_demo is None:
            return

        async def play() -> None:
            source, clock = await open_demo()
            if self._left or self.replaying:
                return  # the operator went on to something else
            if console.bridge.state.pending:
                console.say("a request came meanwhile: the demo is not shown")
                return
            self._leave_for(Bridge(source, clock, console.wake), None, DEMO_GROUP)

        console.start(play)

    def play(self, records: Sequence[Record]) -> None:
        """Shows these records from their start, until the operator leaves them."""
        from watchgate.ui.source.replay_source import Recording

        recording = Recording(records)
        bridge = Bridge(recording, recording, self._console.wake)
        self._leave_for(bridge, recording, REPLAY_GROUP)

    def _leave_for(self, bridge: Bridge, recording: Recording | None, group: str) -> None:
        """Shows another picture from its start, with nothing left of this one's on the screen."""
        console = self._console
        back = self._way_back()
        self._left.append(_Left(console.bridge, self.demo, self.recording, back, group))
        self.recording = recording
        self.demo = self.demo or recording is None
        console.pages.go(None)
        console.monitor.leave_sessions()
        console.desk.clear()
        console.set_filter("", None)
        console.follow(bridge, group)

    def leave(self) -> bool:
        """Goes back to the picture below; returns whether there was one."""
        if not self._left:
            return False
        left = self._left.pop()
        self._console.stop_work(left.group)
        self.demo, self.recording = left.demo, left.recording
        left.back()
        return True

    def farewell(self) -> str:
        """The line that the console leaves in the shell."""
        bridge, options = self._console.bridge, self._console.options
        if self.recording is not None:
            return "watchgate: the replay is over; nothing of it reached a core or an agent"
        calls = self._console.desk.without_core
        return farewell(
            bridge.state, bridge.link, demo=self.demo, hosted=options.hosted, calls=calls
        )

    def _way_back(self) -> Callable[[], None]:
        """Returns the way back to this picture: its bridge, page, filter and cursor."""
        console, home = self._console, self._console.bridge
        table, saved = console.monitor.table, console.desk.save()
        keep, follow, row = table.wanted, table.follow, table.selected
        page = console.pages.top.once_more()

        def back() -> None:
            console.pages.go(page)
            console.desk.restore(saved)
            console.set_filter(saved.filter, keep)
            console.show(home)
            _put_cursor(console, home, row, follow=follow)

        return back


def _put_cursor(console: Console, home: Bridge, row: CallRow | None, *, follow: bool) -> None:
    """Puts the calls' cursor on its call again, however many came meanwhile."""
    table = console.monitor.table
    table.show(home.state, home.now_us(), stale=home.link.lost)
    number = home.state.calls.number((row.agent, row.session, row.call)) if row else None
    if number is not None:
        table.select(number)
    table.follow = follow

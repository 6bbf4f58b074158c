"""The console of one decision: it shows the request that ends first and closes when it is settled.

What makes a decision key act is the same as in the whole console: keys that were typed for the
pane below decide nothing, and only what was shown to its end can be allowed.

- The console in a process of its own, which may set how memory is looked after.
- The popup: the docked request whole and nothing beside it, over whatever one is doing.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence

from textual.widget import Widget

from watchgate.core.base.clock import Clock
from watchgate.core.base.text import safe_text
from watchgate.core.model.views import PendingView
from watchgate.ui.base.formats import short_id
from watchgate.ui.console.app import WatchgateApp
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.keymap import Where
from watchgate.ui.screens.monitor_screen import MonitorScreen
from watchgate.ui.screens.screen_frame import Frame
from watchgate.ui.source.record_source import RecordSource
from watchgate.ui.view_model.console_options import Options
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.key_bars import Part
from watchgate.ui.widgets.request.request_detail import Detail


class PopupScreen(MonitorScreen):
    """Stands where the monitor stands in a whole console, and shows the docked request alone."""

    where: Where = "popup"
    tab = ""
    full_dock = False
    shows_request = True

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.detail = Detail(home=options.home)
        self.detail.styles.width = "1fr"
        self.strip.display = False

    def body(self) -> Iterable[Widget]:
        """The request, and below the smallest size what can still be done about it."""
        yield self.detail
        yield self.tiny

    def on_mount(self) -> None:
        """Leaves the keys to the console itself."""

    def show(self, moment: ViewModel) -> None:
        """Shows the docked request; trouble with the core is shown in the dock's line."""
        Frame.show(self, moment)
        self.tabs.display = False
        self.tiny.display = moment.shape.tiny
        self.detail.display = not moment.shape.tiny
        if moment.shape.tiny:
            self.tiny.show(moment)
            return
        many = len(moment.pending)
        self.detail.show_request(
            moment.docked,
            moment.state,
            moment.now_us,
            was_all_shown=not moment.context.partly_shown,
            place=f"{moment.index + 1} of {many}" if many > 1 else "",
            bare=moment.bare,
            reveal=moment.reveal,
        )

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Returns nothing: there are no tabs."""
        return ()

    def move(self, lines: int) -> None:
        """Scrolls the request."""
        self.detail.scroll_lines(lines)

    def page(self, pages: int) -> None:
        """Scrolls the request by what is visible."""
        self.detail.scroll_pages(pages)

    def jumps(self) -> Sequence[Jump]:
        """Returns nothing: there is no line to jump to."""
        return ()


SETTLED_S = 1.0
"""After so long the first picture of a core is there, if it can be reached."""


class OwnProcess(WatchgateApp):
    """The console where nothing else runs: what it does to memory would be done to others, too."""

    def on_mount(self) -> None:
        self.set_timer(SETTLED_S, self._settle)

    def _settle(self) -> None:
        # What the first picture needed stays for good. Looking through all of it for garbage, as
        # Python does now and then, would hold up a key by more than the rest of its way.
        gc.freeze()


DECIDED, NOT_DECIDED = 0, 1

_HERE = frozenset(
    "deny reply deny_stop deny_all allow handback more_time allow_more edit mark view back reveal "
    "next previous down up page_down page_up top bottom help detach leave theme copy terminal "
    "gate_on start unlock".split()
)
"""The actions of a console that make sense to one request."""


class PopupApp(WatchgateApp, inherit_bindings=False):
    """Leaves with 0 when a person decided the request that it showed, else with 1.

    Args:
        source: The way to the core.
        clock: The core's clock.
        options: Facts about the machine, and callbacks.
        now_s: The monotonic clock in seconds that keys are timed with.
        goes_on: True to show the next open request then, and to close after the last.
    """

    MONITOR = PopupScreen

    def __init__(
        self,
        source: RecordSource,
        clock: Clock,
        options: Options | None = None,
        now_s: Callable[[], float] = time.monotonic,
        *,
        goes_on: bool = False,
    ) -> None:
        super().__init__(source, clock, options, now_s)
        self._goes_on = goes_on
        self._showing: str | None = None
        self._over = False

    def tick(self) -> None:
        """Shows the newest moment, or closes when the request that was shown is settled."""
        if self._over or not self.screen_stack:
            return
        if self.bridge.link.state == "attached":
            self._look()
        super().tick()
        pending = self.bridge.state.pending
        if self.desk.docked in pending and (self._showing is None or self._showing in pending):
            self._showing = self.desk.docked

    def perform(self, action: str) -> None:
        """Does an action that makes sense here; Esc closes the popup when nothing lies above it."""
        if action not in _HERE:
            why = self.keymap[action].reason(self.moment().context)
            self.say(why or "the popup shows this request alone; `watchgate` opens the console")
        elif action == "back" and self.pages.top is self.monitor:
            self.detach()
        elif action != "view" or self.pages.top is not self.monitor:
            super().perform(action)

    def detach(self) -> None:
        """Closes, with nothing decided."""
        self._close(NOT_DECIDED, "")

    def open_request(self) -> bool:
        """Returns False: the popup shows the whole request already."""
        return False

    def _look(self) -> None:
        pending = self.bridge.state.pending
        if self._showing is not None and self._showing not in pending:
            self._settled(self._showing)
        elif not pending:
            self._close(NOT_DECIDED, "watchgate: nothing is pending")

    def _settled(self, request: str) -> None:
        state, self._showing = self.bridge.state, None
        settled = next((s for s in reversed(state.settled) if s.request == request), None)
        word = settled.word if settled is not None else ""
        if (edited := _successor(request, list(state.pending.values()))) is not None:
            self.desk.docked = edited.id
        elif word == "edited-by-operator" and state.settled[-1].request == request:
            self._showing = request  # What it became is told right behind it.
        elif not self._goes_on or not state.pending:
            decided = word.endswith("-by-operator") or word == "answered-elsewhere"
            outcome = safe_text(word.replace("-", " ")) or "settled"
            words = f"watchgate: {short_id(request)} {outcome}"
            self._close(DECIDED if decided else NOT_DECIDED, words)

    def _close(self, code: int, words: str) -> None:
        self._over = True
        self.exit(words or None, return_code=code)


def _successor(request: str, pending: list[PendingView]) -> PendingView | None:
    """The open request that took the place of one that was edited."""
    return next((view for view in pending if view.data.edited_from == request), None)

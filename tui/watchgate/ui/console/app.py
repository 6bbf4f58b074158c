"""The console: a picture of one core, ten times a second at most, and the operator's keys."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from typing import ClassVar

from textual.app import App
from textual.driver import Driver
from textual.events import AppBlur, AppFocus, Key, Paste, Resize
from textual.filter import LineFilter, Monochrome
from textual.worker import Worker

from watchgate.core.base.clock import Clock
from watchgate.ui.approval.arming import Intent
from watchgate.ui.approval.operator import Operator, deciding_keys
from watchgate.ui.base.ascii_only import ask_ascii
from watchgate.ui.base.theme import DARK, MONO, NAMES, PALETTES, fitted, stylesheets
from watchgate.ui.commands import navigation
from watchgate.ui.commands.actions import ACTIONS
from watchgate.ui.commands.key_registry import KEYS
from watchgate.ui.console.agent_states_poll import Agents
from watchgate.ui.console.message_handlers import Answers
from watchgate.ui.console.picture_stack import PictureStack
from watchgate.ui.console.presenter import Presenter
from watchgate.ui.console.terminal_driver import AsciiLines, TerminalDriver, end_with_terminal
from watchgate.ui.console.unlocking import Unlocking
from watchgate.ui.keys.keymap import name_of, read_at
from watchgate.ui.keys.shown_keys import ask_keys
from watchgate.ui.keys.waiting_keys import WaitingKeys
from watchgate.ui.notifications.notices import Announcer
from watchgate.ui.notifications.terminal_sequences import CLEAR, RESTORE, SAVE
from watchgate.ui.screens.monitor_screen import MonitorScreen
from watchgate.ui.screens.pages import Pages
from watchgate.ui.screens.prompts import Prompts
from watchgate.ui.screens.screen_frame import Frame
from watchgate.ui.source.core_bridge import Bridge
from watchgate.ui.source.record_source import RecordSource
from watchgate.ui.view_model.console_options import Options
from watchgate.ui.view_model.dock_state import DockState
from watchgate.ui.view_model.view_model import ViewModel

TICK_S = 0.1
SOON_S = 0.001
"""The shortest wait: a timer of none never ends."""


class WatchgateApp(Answers, inherit_bindings=False):
    """The console on one core; returns the line that it leaves in the shell."""

    CSS_PATH = stylesheets("base", "monitor", "approvals", "traces", "costs", "history")
    TITLE = "watchgate"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar = []
    MONITOR: ClassVar[type[MonitorScreen]] = MonitorScreen

    def __init__(
        self,
        source: RecordSource,
        clock: Clock,
        options: Options | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Shows the core behind `source` by its `clock`; keys are timed by `now_s`."""
        self.options = options or Options()
        ask_ascii(self.options.ascii)
        self.keymap = ask_keys(KEYS, self.options.keys)
        self.desk = DockState()
        self.now_s = now_s
        super().__init__()
        self._dress()
        self.bridge = Bridge(source, clock, self.wake)
        self.stage: PictureStack = PictureStack(self, self.options.replay, demo=self.options.demo)
        self.operator = Operator(self, self.bridge, self.keymap, self.now_s)
        self.monitor = self.MONITOR(self.options)
        self.pages = Pages(self, self.monitor)
        keys = deciding_keys(self.keymap, ("allow", "deny"))
        self.prompts = Prompts(self.pages, self.now_s, keys=keys, home=self.options.home)
        self.unlocking = Unlocking(self, self.now_s)
        self.agents = Agents(self, self.now_s)
        self._presenter = Presenter(self.options, self.keymap, self.desk, self.was_shown)
        self._drawn: object = None
        self.waiting_keys = WaitingKeys(self._take, self._opened, self.later)
        self._announcer = Announcer(self.bell, self._write, self.options.telling, self.start)
        self._open: frozenset[str] = frozenset()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return DARK.variables()

    def _dress(self) -> None:
        """Sets the theme before anything is parsed or drawn: later would do both twice."""
        for palette in PALETTES.values():
            self.register_theme(palette.theme())
        chosen = MONO if self.no_color else NAMES[self.options.theme]
        self.set_reactive(App.theme, fitted(chosen, self.console.color_system).name)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_driver_class(self) -> type[Driver]:
        return TerminalDriver

    def get_line_filters(self) -> Sequence[LineFilter]:
        # Textual's NO_COLOR filter makes CRITICAL fainter than plain text; the mono theme does not.
        filters = [line for line in super().get_line_filters() if not isinstance(line, Monochrome)]
        return [*filters, AsciiLines()] if self.options.ascii else filters

    def get_default_screen(self) -> MonitorScreen:
        return self.monitor

    def on_mount(self) -> None:
        self.animation_level = "none"
        self._write(SAVE)
        self.call_after_refresh(self.follow, self.bridge)
        self.set_interval(TICK_S, self.tick)
        end_with_terminal(self, self._driver)

    def on_unmount(self) -> None:
        self._write(RESTORE)

    def on_exit_app(self) -> None:
        self._write(CLEAR)

    def follow(self, bridge: Bridge, group: str = "bridge") -> None:
        """Shows this from now on; what a bridge of another group reads goes on."""
        self.show(bridge)
        self.run_worker(bridge.run(), group=group, exclusive=True)

    def show(self, bridge: Bridge) -> None:
        """Shows what this bridge reads; frames and keys from before count for nothing here."""
        self.prompts.close()
        self.bridge = bridge
        self.operator = Operator(self, bridge, self.keymap, self.now_s, replay=self.stage.replaying)
        self.wake()

    def wake(self) -> None:
        """Shows at once what should not wait for the next tick."""
        self.call_next(self.tick)

    def tick(self) -> None:
        """Shows the newest moment, if it differs from the one on the screen."""
        if not self.screen_stack:
            return  # the console is closing
        now_s = self.now_s()
        self.desk.forget(now_s)
        self.stage.tick(now_s)
        self.operator.due()
        self._announce()
        self.unlocking.look()
        self.agents.look()
        frame = self.screen
        if not isinstance(frame, Frame):
            return
        desk, now_us, replay = self.desk, self.bridge.now_us(), self.stage.view
        table = self.monitor.table
        drawn = (
            id(frame), frame.where, frame.narrowed, frame.revision, frame.items,
            id(self.bridge), self.bridge.revision, now_us // 1_000_000, replay, self.size,
            desk.docked, desk.bare, desk.note, self.operator.armed, desk.frozen_us,
            desk.filter, self.theme, self.monitor.listed, table.follow, table.new_count,
            table.selected, self.prompts.hints, self.operator.shown_in_full,
            self.operator.marks.ids,
            desk.locked, self.stage.waiting, desk.agents, desk.without_core,
        )  # fmt: skip
        if drawn == self._drawn:
            return
        self._drawn = drawn
        moment = self.moment()
        with self.batch_update():
            frame.show(moment)
            self.prompts.shown()
        if moment.shape.tiny and frame.lists_tiny:
            self.operator.drawn(moment.head_card)

    def _announce(self) -> None:
        """Sends notices of what is new, and keeps prompt and arming up to date."""
        bridge, live = self.bridge, self.stage.live
        pending = frozenset(bridge.state.pending)
        if pending != self._open:
            self._open = pending
            self.prompts.keep(bridge.state.pending)
            self.operator.keep(bridge.state.pending)
        if live is not None:
            self._announcer.announce(
                live.state, live.link, live.now_us(), demo=self.stage.live_is_demo
            )

    def _write(self, control: str) -> None:
        if self._driver is not None:
            self._driver.write(control)

    def moment(self) -> ViewModel:
        """Returns the view model of this moment."""
        frame = self.screen
        return self._presenter.moment(
            self.bridge,
            self.size,
            where=frame.where if isinstance(frame, Frame) else "monitor",
            listed=self.monitor.listed,
            items=frame.items if isinstance(frame, Frame) else 0,
            stage=self.stage,
            prompts=self.prompts,
            operator=self.operator,
        )

    def on_key(self, event: Key) -> None:
        """Takes each key that no prompt took: first the arming, then what the key is bound to."""
        event.stop()
        event.prevent_default()
        self.waiting_keys.press(event)

    def _opened(self) -> bool:
        return self.screen is self.pages.top

    def _take(self, event: Key | str) -> None:
        if isinstance(event, str):
            self.perform(event)
            return
        name = name_of(event)
        if self.prompts.catch(event) or self.pages.top.catch(event):
            return  # what is meant for what is opening must not reach keys that decide
        live = self.stage.live
        if live is not None and live.unaware(self.now_s()):
            self.start(live.hello)
        if self.operator.press(name, read_at(event, self.now_s())):
            self.act(name)
        self.tick()

    def act(self, name: str) -> None:
        """Does what a key is bound to, or says why it does nothing."""
        context = self.moment().context
        key = self.keymap.named(name, context.where, replay=context.replay)
        if key is not None:
            self.perform(key.id)

    def perform(self, action: str) -> None:
        """Does an action of the keymap, or says why it cannot be done now."""
        reason = self.keymap[action].reason(self.moment().context)
        if reason is not None:
            self.say(reason, docked=True)
        else:
            ACTIONS[action](self)

    def on_paste(self, event: Paste) -> None:
        self.operator.pasted()

    def on_app_blur(self, event: AppBlur) -> None:
        self._announcer.focused = False

    def on_app_focus(self, event: AppFocus) -> None:
        self._announcer.focused = True
        self.operator.focused()
        self.prompts.focused()

    def on_resize(self, event: Resize) -> None:
        self.wake()

    def say(self, text: str, seconds: float = 4.0, *, docked: bool = False) -> None:
        """Shows a sentence in the footer; about the `docked` request, as long as it is docked."""
        self.desk.say(text, self.now_s(), seconds, docked=docked)
        self.wake()

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        """Calls something after a while."""
        self.set_timer(max(SOON_S, seconds), call)

    def start(self, work: Callable[[], Coroutine[None, None, None]]) -> Worker[None]:
        """Runs something in the background."""

        async def run() -> None:
            # Made only when it runs: a console that closes first would leave it unawaited.
            await work()

        return self.run_worker(run, group="work", exclusive=False)

    def stop_work(self, group: str) -> None:
        """Cancels the background work of a group."""
        self.workers.cancel_group(self, group)

    def was_shown(self, request_id: str) -> bool:
        """Returns whether the whole text of a request was shown."""
        return self.operator.was_shown(request_id)

    def why_not(self, intent: Intent) -> str | None:
        """Returns the reason a decision key does nothing now; None if it acts."""
        return self.moment().blocked.get(intent)

    def detach(self) -> None:
        """Leaves a demo or a replay for what it was started from, else the console."""
        if not self.stage.leave():
            self.exit(self.stage.farewell())

    def open_request(self) -> bool:
        """Opens the whole request where only a part is shown; returns whether that was needed."""
        top, docked = self.pages.top, self.desk.docked
        shown = docked is None or self.operator.was_shown(docked) or top is not self.monitor
        if top.shows_request and shown:
            return False
        navigation.request(self)
        return True

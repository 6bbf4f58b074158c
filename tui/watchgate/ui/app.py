"""The console: a picture of one core, ten times a second at most, and the operator's keys."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from typing import ClassVar

from textual.app import App
from textual.events import AppBlur, AppFocus, Key, Paste, Resize
from textual.filter import LineFilter, Monochrome
from textual.worker import Worker

from watchgate.core.clock import Clock
from watchgate.core.views import PendingView
from watchgate.ui.answers import Answers
from watchgate.ui.bridge import Bridge
from watchgate.ui.deciding.arming import Ask, Intent
from watchgate.ui.deciding.operator import Operator, deciding_keys
from watchgate.ui.farewell import farewell
from watchgate.ui.keys import going
from watchgate.ui.keys.actions import ACTIONS
from watchgate.ui.keys.keymap import name_of, read_at
from watchgate.ui.keys.shown_keys import ask_keys
from watchgate.ui.moment import Desk, Moment
from watchgate.ui.options import Options
from watchgate.ui.pages import Pages
from watchgate.ui.present import Presenter
from watchgate.ui.prompts import Prompts
from watchgate.ui.screens.frame import Frame
from watchgate.ui.screens.monitor import MonitorScreen
from watchgate.ui.source import Source
from watchgate.ui.stylesheets import stylesheets
from watchgate.ui.telling.announcer import Announcer
from watchgate.ui.telling.title import CLEAR, RESTORE, SAVE
from watchgate.ui.theming.ascii_only import AsciiLines, ask_ascii
from watchgate.ui.theming.palettes import DARK, MONO
from watchgate.ui.theming.theme import NAMES, PALETTES, fitted

TICK_S = 0.1
LEAVE_WITHIN_S = 5.0
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
        source: Source,
        clock: Clock,
        options: Options | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Show the core behind `source` by its `clock`; keys are timed by `now_s`."""
        self.options = options or Options()
        ask_ascii(self.options.ascii)
        self.keymap = ask_keys(self.options.keys)
        self.desk = Desk()
        self.now_s = now_s
        super().__init__()
        self._dress()
        self.bridge = Bridge(source, clock, self.wake)
        self.operator = Operator(self, self.bridge, self.keymap, self.now_s)
        self.monitor = self.MONITOR(self.options)
        self.pages = Pages(self, self.monitor)
        keys = deciding_keys(self.keymap, ("allow", "deny"))
        self.prompts = Prompts(self.pages, self.now_s, keys=keys, home=self.options.home)
        self._presenter = Presenter(self.options, self.keymap, self.desk, self.operator.has_seen)
        self.played_from: Bridge | None = None
        self._drawn: object = None
        self._announcer = Announcer(self.bell, self._write, self.options.telling, self.start)
        self._open: frozenset[str] = frozenset()
        self._leave_until_s = float("-inf")

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return DARK.variables()

    def _dress(self) -> None:
        """Put the theme on before anything is parsed or drawn: later would do both twice."""
        for palette in PALETTES.values():
            self.register_theme(palette.theme())
        chosen = MONO if self.no_color else NAMES[self.options.theme]
        self.set_reactive(App.theme, fitted(chosen, self.console.color_system).name)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_line_filters(self) -> Sequence[LineFilter]:
        # Textual's NO_COLOR filter makes CRITICAL fainter than plain text; the mono theme does not.
        kept = [line for line in super().get_line_filters() if not isinstance(line, Monochrome)]
        return [*kept, AsciiLines()] if self.options.ascii else kept

    def get_default_screen(self) -> MonitorScreen:
        return self.monitor

    def on_mount(self) -> None:
        self.animation_level = "none"
        self._write(SAVE)
        self.call_after_refresh(self.follow, self.bridge)
        self.set_interval(TICK_S, self.tick)

    def on_unmount(self) -> None:
        self._write(RESTORE)

    def on_exit_app(self) -> None:
        self._write(CLEAR)

    def follow(self, bridge: Bridge) -> None:
        """Show this core from now on, and read from no other."""
        self.bridge = self.operator.bridge = bridge
        self.run_worker(bridge.run(), group="bridge", exclusive=True)
        self.wake()

    def wake(self) -> None:
        """Show at once what should not wait for the next tick."""
        self.call_next(self.tick)

    def tick(self) -> None:
        """Show the newest moment, if it differs from the one on the screen."""
        if not self.screen_stack:
            return  # the console is closing
        self.desk.forget(self.now_s())
        self.operator.due()
        self._announce()
        frame = self.screen
        if not isinstance(frame, Frame):
            return
        desk, now_us = self.desk, self.bridge.now_us()
        table = self.monitor.table
        drawn = (
            id(frame), frame.where, frame.narrowed, frame.revision, frame.items,
            id(self.bridge), self.bridge.revision,
            now_us // 1_000_000, self.size, desk.docked, desk.bare, desk.note, desk.frozen_us,
            desk.filter, self.theme, self.monitor.listed, table.follow, table.new_count,
            table.selected, self.prompts.hints, self.operator.seen, self.operator.marks.ids,
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
        """Tell of what is new, and keep prompt and arming up to date."""
        bridge = self.bridge
        pending = frozenset(bridge.state.pending)
        if pending != self._open:
            self._open = pending
            self.prompts.keep(bridge.state.pending)
            self.operator.keep(bridge.state.pending)
        self._announcer.announce(bridge.state, bridge.link, bridge.now_us(), demo=self.demo)

    def _write(self, control: str) -> None:
        if self._driver is not None:
            self._driver.write(control)

    def moment(self) -> Moment:
        """What is so now."""
        frame = self.screen
        return self._presenter.moment(
            self.bridge,
            self.size,
            where=frame.where if isinstance(frame, Frame) else "monitor",
            listed=self.monitor.listed,
            items=frame.items if isinstance(frame, Frame) else 0,
            demo=self.demo,
            prompt=self.prompts.hints,
            marks=self.operator.marks,
        )

    @property
    def demo(self) -> bool:
        """Whether the picture is a demonstration."""
        return self.options.demo or self.played_from is not None

    def on_key(self, event: Key) -> None:
        """Every key that no prompt took: first the arming, then what the key is bound to."""
        event.stop()
        event.prevent_default()
        name = name_of(event)
        if self.prompts.catch():
            return  # a prompt is opening: what is meant for it must not reach keys that decide
        if self.bridge.unaware(self.now_s()):
            self.start(self.bridge.hello)
        if self.operator.press(name, read_at(event, self.now_s())):
            self.act(name)
        self.tick()

    def act(self, name: str) -> None:
        """Do what a key is bound to, or say why it does nothing."""
        key = self.keymap.named(name, self.moment().context.where)
        if key is not None:
            self.perform(key.id)

    def perform(self, action: str) -> None:
        """Do an action of the keymap, or say why it cannot be done now."""
        reason = self.keymap[action].reason(self.moment().context)
        if reason is not None:
            self.say(reason)
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

    def say(self, text: str, seconds: float = 4.0) -> None:
        """Tell the operator something in the dock's last line."""
        self.desk.say(text, self.now_s(), seconds)
        self.wake()

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        """Call something after a while."""
        self.set_timer(max(SOON_S, seconds), call)

    def start(self, work: Callable[[], Coroutine[None, None, None]]) -> Worker[None]:
        """Run something beside the screen."""

        async def run() -> None:
            # Made only when it runs: a console that closes first would leave it unawaited.
            await work()

        return self.run_worker(run, group="work", exclusive=False)

    def why_not(self, intent: Intent) -> str | None:
        """Why a decision key does nothing now."""
        return self.moment().blocked.get(intent)

    def play_demo(self) -> None:
        """Show the demo's core until the operator leaves it."""
        open_demo = self.options.open_demo
        if open_demo is None:
            return

        async def play() -> None:
            source, clock = await open_demo()
            self.played_from = self.bridge
            self.follow(Bridge(source, clock, self.wake))

        self.start(play)

    def detach(self) -> None:
        """Leave a demo for the core it was started from, else leave the console."""
        if self.played_from is not None:
            home, self.played_from = self.played_from, None
            self.follow(home)
        else:
            state, link = self.bridge.state, self.bridge.link
            self.exit(farewell(state, link, demo=self.demo, hosted=self.options.hosted))

    def ask_leave(self) -> None:
        """Leave when asked twice."""
        now_s = self.now_s()
        if now_s <= self._leave_until_s:
            self.detach()
        self._leave_until_s = now_s + LEAVE_WITHIN_S
        self.say(f"{self.keymap['leave'].shown} again leaves {self._what_ends()}", LEAVE_WITHIN_S)

    def _what_ends(self) -> str:
        if self.demo:
            return "the demo"
        ends = "the console and ends its core"
        return ends if self.options.hosted else "the console, the core goes on"

    def ask_yes(self, ask: Ask, view: PendingView) -> None:
        """Open the prompt that reads a typed yes."""
        self.prompts.ask_yes(ask, view, lambda: self.operator.drawn_id)

    def open_request(self) -> bool:
        """Open the whole request where only a part of it is shown."""
        top, docked = self.pages.top, self.desk.docked
        shown = docked is None or self.operator.has_seen(docked) or top is not self.monitor
        if top.shows_request and shown:
            return False
        going.request(self)
        return True

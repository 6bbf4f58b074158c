"""Hands that do anything at all in front of a console, and a core that does as it likes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from random import Random

from textual.events import AppBlur, AppFocus, Key, Paste, Resize
from textual.geometry import Size
from textual.keys import _character_to_key

from tests.ui.console_bench import Bench, idle
from tests.ui.random_core import WORDS, RandomCore
from tests.ui.random_oracle import Oracle
from watchgate.ui.approval.operator import INTENTS
from watchgate.ui.base.terminal_shape import TerminalShape
from watchgate.ui.commands.key_registry import KEYS
from watchgate.ui.screens.costs_screen import CostsScreen
from watchgate.ui.screens.history_screen import HistoryScreen
from watchgate.ui.screens.screen_frame import Frame
from watchgate.ui.screens.text_screens import CommandScreen
from watchgate.ui.screens.traces_screen import TracesScreen
from watchgate.ui.widgets.prompts.confirm_prompts import WordPrompt
from watchgate.ui.widgets.prompts.filter_bar import FilterBar
from watchgate.ui.widgets.prompts.jump_prompt import JumpPrompt

SIZES = (
    (40, 8),
    (48, 12),
    (60, 16),
    (80, 24),
    (100, 30),
    (112, 30),
    (120, 40),
    (160, 45),
    (200, 60),
)
LEAVING = ("q", "ctrl+c", "ctrl+q", "ctrl+z")
EVERY = tuple(sorted({name for key in KEYS for name in key.keys} - set(LEAVING)))
PROMPTED = ("y", "e", "s", "n", "enter", "escape", "backspace", "1", "2", "3", "4", "tab", "f", "h")
DECIDING = tuple(name for key in KEYS if key.id in INTENTS for name in key.keys)
PURPOSES = (
    "a", "a a", "a a a", "a y e s", "d", "D D", "b", "r", "t", "X", "space ] a",
    "A a", "A 4 a", "A 4 e backspace enter a", "A 4 e x enter a", "A 4 e escape a",
    "e x enter a", "e x enter a a", "e x enter e y enter a", "e x enter d", "e x escape",
    "3 j enter j escape", "4 s j enter escape w", "5 j enter j escape",
    "apostrophe d", "apostrophe a", "colon d escape", "slash d escape", "colon b escape",
    "5 slash d enter j escape", "5 slash z escape",
)  # fmt: skip
"""What somebody does who means it, so that there are decisions and screens to be judged."""

SCREENS = ("1", "2", "3", "4", "5", "question_mark", "colon", "apostrophe", "slash", "escape", "v")
PASTES = ("rm -rf /", "a", "yes", "risk:high tool:", "é漢\x1b[31m", "\n")
FREE = ("docked", "jump", "prompt")
CURSORS = ("selected", "trace", "spent", "past")
EARLY_S = (0.1, 0.26, 0.29, 0.31, 0.45, 0.49, 0.59, 0.61)
NAMED = {"?": "question_mark", ":": "colon", "'": "apostrophe", "/": "slash"}


class RandomHands:
    """One console, its core, and what is judged after every step; time only passes on a clock."""

    def __init__(self, bench: Bench, rng: Random, core: RandomCore) -> None:
        self.bench, self.rng, self.core = bench, rng, core
        self.oracle = Oracle()
        self.asked = 0
        self.steps = 0
        self.began_s = bench.clock.now_s()
        self.log: list[str] = []
        self.left = self.may_leave = False
        bench.source.answer = core.answer

    @property
    def minutes(self) -> float:
        """The simulated time that passed."""
        return (self.bench.clock.now_s() - self.began_s) / 60

    @property
    def over(self) -> bool:
        """Whether the console has been left."""
        if not self.left and self.bench.app.return_value is not None:
            self.left = True
            assert self.may_leave, "the console was left, and not by its keys"
        return self.left

    async def step(self) -> None:
        """Do something, and see that nothing happened that was not asked for."""
        kinds: Sequence[tuple[int, Callable[[], Awaitable[None]]]] = (
            (30, self._keys), (14, self._on_purpose), (6, self._burst), (2, self._paste),
            (8, self._resize), (4, self._focus), (12, self._request), (8, self._settle),
            (3, self._extend), (6, self._calls), (1, self._lose), (8, self._wait), (4, self._rush),
            (5, self._look), (4, self._used), (5, self._traced),
            (10, self._early),
        )  # fmt: skip
        weights = [weight for weight, _ in kinds]
        do = self.rng.choices([do for _, do in kinds], weights)[0]
        self.steps += 1
        self.log.append(do.__name__)
        await do()

    async def settle(self) -> None:
        """Lets the console draw, and judges what it decided."""
        bench, app = self.bench, self.bench.app
        await self._drawn()
        prompt = app.prompts._open
        due = getattr(prompt, "_due", None)
        if prompt is not None and prompt.is_mounted and due is not None:
            due()
        await self._drawn()
        now_s = bench.clock.now_s()
        for request in bench.source.asked[self.asked :]:
            if request.verb in ("decide", "extend"):
                self.log.append(f"{request.decision or request.verb} {(request.request or '')[:4]}")
                self.oracle.judge(request, now_s, self.core.asks)
            if request.verb == "decide" and request.request in self.core.state.pending:
                word = "allowed-by-operator" if request.decision == "allow" else WORDS[0]
                bench.source.feed(*self.core.settled(request.request, word))
        self.asked = len(bench.source.asked)
        if self.over:
            return
        self.oracle.drew(self._named(), now_s)
        self.oracle.known = dict(app.bridge.state.pending)

    async def flush(self) -> None:
        """Lets every key that waits come to its end."""
        for seconds in (0.3, 0.06, 0.06):
            self._pass(seconds)
            await self.settle()

    async def press(self, name: str, apart_s: float) -> None:
        """One key, so long after whatever came before."""
        if apart_s >= 0.3:  # at such a distance the console has drawn in between
            self._pass(0.27)
            await self.settle()
            self._pass(apart_s - 0.27)
            await self.settle()
        else:
            self._pass(apart_s)
        self.log.append(name)
        self.oracle.pressed(name, self.bench.clock.now_s(), read=self._reads)
        self._send(name)
        await idle()
        # A timer of the console's own, which runs in real time, may have drawn already.
        self.oracle.drew(self._named(), self.bench.clock.now_s())

    async def _drawn(self) -> None:
        """Lets everything come to its end, and what came of it to the screen."""
        app = self.bench.app
        for _ in range(2):
            await idle()
            app.tick()
            await idle()
            app.screen._on_timer_update()
        await idle()

    async def _keys(self) -> None:
        pool = self.rng.choice((EVERY, EVERY, PROMPTED, DECIDING, SCREENS))
        for _ in range(self.rng.choice((1, 1, 1, 3))):
            await self.press(self.rng.choice(pool), self.rng.choice((0.05, 0.3, 0.7, 2.0)))
            self._pass(self.rng.choice((0.0, 0.26)))
            await self.settle()
            if self.over:
                return

    async def _on_purpose(self) -> None:
        """What a person does who means it: so that there are decisions to be judged."""
        keys = self.rng.choice(PURPOSES).split()
        if self.rng.random() < 0.6:
            await self._alone(self.rng.choice(("medium", "medium", "high", "critical")))
        await self.flush()
        for key in keys:
            await self.press(key, self.rng.choice((0.7, 0.9)))
            await self.flush()
            if self.over:
                return
        if keys == ["r"] or self.bench.app.prompts._open is not None:
            name = self.rng.choice(("enter", "escape", "d"))
            await self.press(name, 0.7)
            await self.flush()

    async def _early(self) -> None:
        """A deciding key a little too soon, or just not: after a new card, or after the focus."""
        kind = self.rng.choice(("turned", "came", "focus"))
        if kind != "turned":
            await self._alone("medium")
        await self.flush()
        if self.over:
            return
        if kind == "focus":
            self.bench.app.post_message(AppFocus())
            self.oracle.focus_s = self.bench.clock.now_s()
        elif kind == "turned" and len(self.core.state.pending) > 1:
            await self.press("tab", 0.3)
        else:
            await self._settle_all()
            await self._feed(self.core.requested("medium"))
        await self.settle()
        self._pass(self.rng.choice(EARLY_S))
        await self.press(self.rng.choice("aaAedb"), 0.0)
        self._pass(0.26)
        await self.settle()
        await self.flush()

    async def _alone(self, kind: str) -> None:
        """One request, all of it on the monitor: so that what is pressed then may decide."""
        for key in ("escape", "escape", "1"):
            await self.press(key, 0.7)
        await self._settle_all()
        await self._feed(self.core.requested(kind))
        await self._sized((160, 45))
        await self.settle()

    async def _settle_all(self) -> None:
        for id_ in list(self.core.state.pending):
            await self._feed(self.core.settled(id_, WORDS[0]))

    async def _look(self) -> None:
        """Goes through a request that is longer than the screen."""
        await self.press(self.rng.choice(("v", "2", "1")), 0.7)
        await self.flush()
        for _ in range(6):
            await self.press("pagedown", 0.7)
            await self.settle()

    async def _burst(self) -> None:
        for _ in range(self.rng.randint(2, 6)):
            name = self.rng.choice((*DECIDING, *PROMPTED, *SCREENS))
            self._pass(self.rng.choice((0.0, 0.02, 0.1)))
            self.log.append(name)
            self.oracle.pressed(name, self.bench.clock.now_s(), read=self._reads)
            self._send(name)
        await self.settle()

    async def _paste(self) -> None:
        self.oracle.pressed("paste", self.bench.clock.now_s(), pasted=True)
        self.bench.app.post_message(Paste(self.rng.choice(PASTES)))
        await self.settle()

    async def _resize(self) -> None:
        await self._unmoved(lambda: self._sized(self.rng.choice(SIZES)))

    async def _sized(self, cells: tuple[int, int]) -> None:
        size = Size(*cells)
        self.bench.app._driver._size = size  # type: ignore[union-attr]
        self.bench.app.post_message(Resize(size, size))

    async def _focus(self) -> None:
        async def focus() -> None:
            self.bench.app.post_message(AppBlur())
            await self.settle()
            self._pass(self.rng.choice((0.0, 5.0)))
            self.oracle.focus_s = self.bench.clock.now_s()
            self.bench.app.post_message(AppFocus())

        await self._unmoved(focus)

    async def _request(self) -> None:
        if len(self.core.state.pending) < 8:
            await self._unmoved(lambda: self._feed(self.core.requested()))

    async def _settle(self) -> None:
        async def settle() -> None:
            if self.core.state.pending:
                id_ = self.rng.choice(list(self.core.state.pending))
                word = self.rng.choice((*WORDS, "denied-by-timeout"))
                await self._feed(self.core.settled(id_, word))

        await self._unmoved(settle)

    async def _extend(self) -> None:
        async def extend() -> None:
            if self.core.state.pending:
                id_ = self.rng.choice(list(self.core.state.pending))
                await self._feed(self.core.extended(id_))

        await self._unmoved(extend)

    async def _calls(self) -> None:
        count = self.rng.choice((1, 1, 5, 40, 120))
        await self._unmoved(lambda: self._feed(self.core.calls(count)))

    async def _used(self) -> None:
        await self._unmoved(lambda: self._feed(self.core.used()))

    async def _traced(self) -> None:
        await self._unmoved(lambda: self._feed(self.core.traced()))

    async def _lose(self) -> None:
        bench = self.bench

        async def lose() -> None:
            bench.source.lose()
            await self.settle()
            self._pass(self.rng.choice((1.0, 40.0)))
            await self.settle()
            bench.source.pushes.clear()
            bench.source.revive(self.core.snapshot(bench.clock.now().wall_us))
            for _ in range(20):
                bench.app.bridge.retry_now()
                await self.settle()
                if bench.app.bridge.link.state == "attached":
                    break

        await self._unmoved(lose)

    async def _wait(self) -> None:
        async def wait() -> None:
            self._pass(self.rng.choice((0.1, 1.0, 7.0, 45.0)))

        await self._unmoved(wait)

    async def _rush(self) -> None:
        """The core settles or replaces what a key is just about."""
        await self.press(self.rng.choice(DECIDING), 0.7)
        pending = list(self.core.state.pending)
        if pending and self.rng.random() < 0.7:
            id_ = self.bench.app.desk.docked
            id_ = id_ if id_ in pending else self.rng.choice(pending)
            await self._feed(self.core.settled(id_, WORDS[0]))
        else:
            await self._feed(self.core.requested())
        await self.settle()
        await self.flush()

    @property
    def _reads(self) -> bool:
        """Whether keys are letters or labels now."""
        reads = isinstance(self.bench.app.prompts._open, FilterBar | JumpPrompt | WordPrompt)
        return reads or isinstance(self.bench.app.screen, CommandScreen)

    def _send(self, name: str) -> None:
        """Sends a key as the terminal would."""
        key = NAMED.get(name, _character_to_key(name) if len(name) == 1 else name)
        character = name if len(name) == 1 else None
        if name in NAMED.values():
            character = next(each for each, long in NAMED.items() if long == name)
        frame = self.bench.app.screen
        listed = isinstance(frame, Frame) and frame.where == "commands"
        if name == "enter":  # `detach` may have been chosen from the palette, or not yet have been
            self.may_leave = self.may_leave or listed or "colon" in self.log[-6:]
        event = Key(key, " " if name == "space" else character)
        event.time = self.bench.clock.now_s()  # read now, however long it waits to be handled
        self.bench.app.post_message(event)

    async def _feed(self, records: Sequence[object]) -> None:
        self.bench.source.feed(*records)  # type: ignore[arg-type]

    def _pass(self, seconds: float) -> None:
        self.bench.clock.advance(seconds)
        self.core.at = self.bench.clock.now().wall_us

    async def _unmoved(self, happen: Callable[[], Awaitable[None]]) -> None:
        """Lets something happen that no key asked for: nothing under the hands may move."""
        await self.flush()
        if self.over:
            return
        before = self._hands()
        open_before = set(self.core.state.pending)
        await happen()
        await self.settle()
        await self.settle()
        after = self._hands()
        jumping = isinstance(self.bench.app.prompts._open, JumpPrompt) or before["jump"]
        moved = [what for what in before if what not in FREE and before[what] != after[what]]
        first = [what for what in CURSORS if before[what] is None]  # the first line that there is
        moved = [what for what in moved if what not in first]
        if "focus" in moved and (jumping or self._unfocused(after["focus"])):
            moved.remove("focus")
        if not jumping and before["prompt"] is not after["prompt"]:
            moved.append("prompt")
        assert not moved, f"{moved} moved by itself: {before} to {after}"
        docked = before["docked"]
        if docked is not None and docked in self.bench.app.bridge.state.pending:
            assert after["docked"] == docked, f"another request was docked: {open_before}"

    def _named(self) -> str | None:
        """The docked request, where the screen shows it: by its id, or by a line of its own."""
        docked, frame = self.bench.app.desk.docked, self.bench.app.screen
        if docked is None or not isinstance(frame, Frame):
            return None
        if frame.dock.display:
            view = frame.dock._docked.pending
            return view.id if view is not None else None
        if frame.lists_tiny and TerminalShape(*self.bench.app.size).tiny:
            return docked
        return docked if f"#{docked[:4]}" in self.bench.screen else None

    def _unfocused(self, focus: object) -> bool:
        """Where the calls have no room nothing has the focus; later their pane has it."""
        monitor = self.bench.app.monitor
        if focus is None:
            return not monitor.table.display
        return focus is (monitor.sessions if monitor.listed else monitor.table)

    def _hands(self) -> dict[str, object]:
        """Everything that only a key may move."""
        app = self.bench.app
        frame, table, prompt = app.screen, app.monitor.table, app.prompts._open
        row = table.selected
        beside = app.pages._screen
        return {
            "where": (frame.where if isinstance(frame, Frame) else None, id(frame)),
            "focus": app.focused,
            "prompt": prompt,
            "jump": isinstance(prompt, JumpPrompt),
            "selected": (row.agent, row.session, row.call) if row else None,
            "trace": beside.list._cursor if isinstance(beside, TracesScreen) else None,
            "spent": beside.table._cursor if isinstance(beside, CostsScreen) else None,
            "past": beside.selected.first
            if isinstance(beside, HistoryScreen) and beside.selected
            else None,
            "session": app.monitor.sessions._key,
            "filter": (app.desk.filter, frame.narrowed if isinstance(frame, Frame) else None),
            "listed": app.monitor.listed,
            "docked": app.desk.docked,
        }

"""A console under test: a fake core, a clock that stands still, keys pressed one by one."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from types import SimpleNamespace
from unittest.mock import patch

from textual.app import App
from textual.events import Key
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.pilot import Pilot

from tests.ui.fake_source import FOUND, FakeClock, FakeSource
from tests.ui.picture import NOW_US
from watchgate.core.model.agent_state import AgentState
from watchgate.link.protocol import Presence, Snapshot
from watchgate.ui.console.app import WatchgateApp
from watchgate.ui.keys import keymap
from watchgate.ui.view_model.console_options import Options
from watchgate.ui.widgets.base.pane import Pane

TURNS = 10_000
"""Of the loop until a console that is told nothing must have come to rest."""

CLEAR = Presence(standing="clear")
LOCKED = Presence(
    standing="locked", why="it was opened after the agent was started", pin=True, tty="pts/3"
)
OPTIONS = Options(home="/home/ana")


def keys_as_pressed() -> AbstractContextManager[object]:
    """Keys are as old as the test's clock says, however long a busy machine kept them waiting."""
    return patch.object(keymap, "time", SimpleNamespace(monotonic=lambda: 0.0))


async def idle() -> None:
    """Lets every message that is on its way arrive: until no task of the loop can go on.

    It asks no widget for an answer, as the pilot does, so that a key costs what it draws.
    """
    loop = asyncio.get_running_loop()
    for _ in range(TURNS):
        if not loop._ready:  # type: ignore[attr-defined]
            return
        await asyncio.sleep(0)
    raise AssertionError("the console never comes to rest")


async def handed_on(app: App[str]) -> None:
    """Lets every message pass through all queues on its way, and draws what comes of it."""
    for _ in range(2):
        await idle()
        app.screen._on_timer_update()
    await idle()


def pressed(name: str) -> Key:
    """A key as the terminal sends it, by the name that the pilot knows it by."""
    if len(name) == 1:
        return Key(_character_to_key(name), name)
    try:
        long = REPLACED_KEYS.get(name, name)
        return Key(name, unicodedata.lookup(_get_unicode_name_from_key(long)))
    except KeyError:
        return Key(name, None)


class Hands:
    """A running console, and the hands and eyes in front of it; `clock` times the keys."""

    def __init__(self, app: WatchgateApp, clock: FakeClock) -> None:
        self.app = app
        self.clock = clock
        self.pilot: Pilot[str]

    async def press(self, *keys: str, apart_s: float = 1.0) -> None:
        """Press keys as a person does, and let each of them take effect."""
        for key in keys:
            self.clock.advance(apart_s)
            self.app.post_message(pressed(key))
            await handed_on(self.app)
            self.clock.advance(0.26)
            await self.settle()

    async def type(self, text: str) -> None:
        """Type text into whatever has the keys."""
        for character in text:
            self.app.post_message(pressed("space" if character == " " else character))
            await idle()

    async def settle(self) -> None:
        """Lets the console draw the newest moment."""
        await idle()
        self.app.tick()
        await handed_on(self.app)

    async def until(self, ready: Callable[[], object], *, looks: int = 400) -> None:
        """Waits until something is so; fails after so many looks, twenty of them a second."""
        for _ in range(looks):
            if ready():
                return
            await self.pilot.pause(0.05)
        raise AssertionError("it did not come about")

    def text(self, pane: Pane) -> str:
        """What a pane shows."""
        return "\n".join(
            pane.render_line(y).text.rstrip() for y in range(pane.size.height) if pane.display
        )

    @property
    def screen(self) -> str:
        """The whole screen as a reader sees it."""
        width, height = self.app.size
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text[:width].rstrip() for strip in strips[:height])


class Bench(Hands):
    """A running console with the core that a test turns."""

    def __init__(self, app: WatchgateApp, source: FakeSource, clock: FakeClock) -> None:
        super().__init__(app, clock)
        self.source = source


@asynccontextmanager
async def running(
    snapshot: Snapshot,
    *,
    size: tuple[int, int] = (120, 40),
    options: Options = OPTIONS,
    presence: Presence | None = CLEAR,
    agents: tuple[AgentState, ...] = FOUND,
) -> AsyncIterator[Bench]:
    """A console attached to a core that gave this snapshot, and says how the terminal stands.

    `agents` are those on the core's machine.
    """
    clock, source = FakeClock(NOW_US), FakeSource(snapshot)
    source.presence, source.agents = presence, agents
    bench = Bench(WatchgateApp(source, clock, options, clock.now_s), source, clock)
    with keys_as_pressed():
        async with bench.app.run_test(size=size) as pilot:
            bench.pilot = pilot
            await bench.until(lambda: bench.app.bridge.link.state == "attached")
            await bench.settle()
            if snapshot.pending:
                await bench.until(lambda: bench.app.operator.drawn_id)
            yield bench

"""A console under test: a fake core, a clock that stands still, keys pressed one by one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from types import SimpleNamespace
from unittest.mock import patch

from textual.pilot import Pilot

from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.picture import NOW_US
from watchgate.link.protocol import Snapshot
from watchgate.ui.app import WatchgateApp
from watchgate.ui.keys import keymap
from watchgate.ui.options import FoundAgent, Options
from watchgate.ui.widgets.pane import Pane

AGENTS = (FoundAgent("claude", "2.1.4"), FoundAgent("codex", "0.58"))
HOPS = 8
"""Queues that a key passes at most: app, widget, what is around it up to the app, and an answer."""

OPTIONS = Options(agents=AGENTS, home="/home/ana")


def keys_as_pressed() -> AbstractContextManager[object]:
    """Keys are as old as the test's clock says, however long a busy machine kept them waiting."""
    return patch.object(keymap, "time", SimpleNamespace(monotonic=lambda: 0.0))


async def handed_on(pilot: Pilot[str], hops: int = HOPS) -> None:
    """Let every message pass through all queues on its way, and draw what comes of it.

    The pilot takes a process that gets no time on a busy machine for an idle one.
    """
    for _ in range(hops):
        await pilot._wait_for_screen()
        pilot.app.screen._on_timer_update()


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
            await self.pilot.press(key)
            await handed_on(self.pilot)
            self.clock.advance(0.26)
            await self.settle()

    async def type(self, text: str) -> None:
        """Type text into whatever has the keys."""
        for character in text:
            await self.pilot.press("space" if character == " " else character)

    async def settle(self) -> None:
        """Let the console draw the newest moment."""
        await self.pilot.pause()
        self.app.tick()
        await self.pilot.pause()
        await handed_on(self.pilot)

    async def until(self, ready: Callable[[], object]) -> None:
        """Wait until something is so; fails after about twenty seconds."""
        for _ in range(400):
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
    snapshot: Snapshot, *, size: tuple[int, int] = (120, 40), options: Options = OPTIONS
) -> AsyncIterator[Bench]:
    """A console attached to a core that gave this snapshot."""
    clock, source = FakeClock(NOW_US), FakeSource(snapshot)
    bench = Bench(WatchgateApp(source, clock, options, clock.now_s), source, clock)
    with keys_as_pressed():
        async with bench.app.run_test(size=size) as pilot:
            bench.pilot = pilot
            await bench.until(lambda: bench.app.bridge.link.state == "attached")
            await bench.settle()
            if snapshot.pending:
                await bench.until(lambda: bench.app.operator.drawn_id)
            yield bench

"""The bridge: records become a state, and a core that goes away is waited for."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import anyio.lowlevel
import pytest
from msgspec.structs import replace

from tests.ui.fake_source import FakeClock, FakeSource
from tests.ui.picture import CRITICAL, NOW_US, busy, quiet
from watchgate.core.model.records import Record
from watchgate.link.control_lines import CoreLost
from watchgate.link.protocol import Push, Request
from watchgate.ui.source.agent_titles import title
from watchgate.ui.source.core_bridge import SLICE, Bridge


class Following:
    """A bridge in a task group, with the sleeps that it asked for."""

    def __init__(self) -> None:
        self.clock = FakeClock(NOW_US)
        self.source = FakeSource(busy())
        self.woken = 0
        self.slept: list[float] = []
        self.go_on = anyio.Event()
        self.bridge = Bridge(self.source, self.clock, self._wake, self._sleep)

    def _wake(self) -> None:
        self.woken += 1

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self.go_on.wait()
        self.go_on = anyio.Event()
        self.clock.advance(seconds)

    async def wait_again(self) -> None:
        """Lets the bridge's waiting end, and its next waiting begin."""
        tries = len(self.slept)
        self.go_on.set()
        await until(lambda: len(self.slept) > tries)


def note(seq: int, kind: str = "notice", request: str | None = None) -> Record:
    """A record that changes little."""
    data = {"word": "withdrawn", "by": "the agent", "waited_s": 1.0, "native": "N"}
    return Record(v=1, seq=seq, core="core", at=NOW_US, kind=kind, request=request, data=data)


@pytest.fixture
def following() -> Following:
    """A bridge to a fake core."""
    return Following()


async def until(ready: Callable[[], object]) -> None:
    """Lets tasks run until something is so."""
    for _ in range(20_000):
        if ready():
            return
        await anyio.lowlevel.checkpoint()
    raise AssertionError("it did not come about")


async def test_a_snapshot_and_the_records_after_it_make_the_state(following: Following) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(following.bridge.run)
        await until(lambda: following.bridge.state.seq == 48_211)
        following.source.feed(note(48_212), note(48_213))
        await until(lambda: following.bridge.state.seq == 48_213)
        tasks.cancel_scope.cancel()
    assert len(following.bridge.state.rows) == len(busy().rows)


async def test_only_requests_and_their_ends_wake_the_screen(following: Following) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(following.bridge.run)
        await until(lambda: following.woken == 1)
        following.source.feed(note(48_212))
        await until(lambda: following.bridge.state.seq == 48_212)
        assert following.woken == 1
        following.source.feed(note(48_213, "approval.decided", CRITICAL))
        await until(lambda: following.woken == 2)
        tasks.cancel_scope.cancel()


async def test_a_flood_is_folded_in_slices_that_let_others_run(following: Following) -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while following.bridge.state.seq < 48_211 + 4 * SLICE:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(following.bridge.run)
        await until(lambda: following.bridge.state.seq == 48_211)
        following.source.feed(*(note(48_212 + n) for n in range(4 * SLICE)))
        tasks.start_soon(other)
        await until(lambda: following.bridge.state.seq == 48_211 + 4 * SLICE)
        tasks.cancel_scope.cancel()
    assert turns >= 3


async def test_a_lost_core_is_tried_again_with_growing_pauses(following: Following) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(following.bridge.run)
        await until(lambda: following.bridge.link.state == "attached")
        following.source.lose("it closed the connection")
        await until(lambda: following.slept)
        for _ in range(6):
            await following.wait_again()
        tasks.cancel_scope.cancel()
    assert following.slept[:6] == [1, 2, 4, 8, 16, 30]
    assert following.bridge.link.tries == 7
    assert following.bridge.link.since_us == NOW_US
    assert following.bridge.state.seq == 48_211


async def test_a_core_that_comes_back_replaces_the_picture(following: Following) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(following.bridge.run)
        await until(lambda: following.bridge.link.state == "attached")
        following.source.lose()
        await until(lambda: following.bridge.link.lost and following.slept)
        following.source.revive(quiet())
        following.bridge.retry_now()
        await until(lambda: following.bridge.link.state == "attached")
        tasks.cancel_scope.cancel()
    assert not following.bridge.state.pending


async def test_a_goodbye_of_the_core_is_its_reason(following: Following) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(following.bridge.run)
        await until(lambda: following.bridge.link.state == "attached")
        following.source.absent = True
        following.source.pushes.append(Push(closed="it was stopped"))
        following.source.something.set()
        await until(lambda: following.bridge.link.lost)
        tasks.cancel_scope.cancel()
    assert "it was stopped" in following.bridge.link.why


async def test_skipped_records_are_counted(following: Following) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(following.bridge.run)
        await until(lambda: following.bridge.link.state == "attached")
        following.source.pushes.append(Push(gap=(48_212, 49_415)))
        following.source.something.set()
        await until(lambda: following.bridge.skipped)
        tasks.cancel_scope.cancel()
    assert following.bridge.skipped == 1_204


async def test_nothing_can_be_asked_of_a_core_that_is_not_there(following: Following) -> None:
    with pytest.raises(CoreLost):
        await following.bridge.ask(Request(id=0, verb="on"))


async def test_the_core_that_is_ahead_of_us_counts_down_by_its_own_clock() -> None:
    clock, source = FakeClock(NOW_US - 5_000_000), FakeSource(busy())
    bridge = Bridge(source, clock, lambda: None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bridge.run)
        await until(lambda: bridge.link.state == "attached")
        tasks.cancel_scope.cancel()
    assert bridge.now_us() == NOW_US


async def test_agents_are_called_as_the_core_calls_them(following: Following) -> None:
    following.source.snapshot = replace(busy(), titles={"vega": "Vega for you"})
    assert title("vega") == "vega"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(following.bridge.run)
        await until(lambda: title("vega") == "Vega for you")
        tasks.cancel_scope.cancel()

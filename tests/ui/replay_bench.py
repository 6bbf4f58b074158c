"""A console that plays a recording, and the recording: two minutes of the demo's four sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import msgspec

from tests.ui.console_bench import OPTIONS, Bench, Hands, keys_as_pressed, running
from tests.ui.fake_source import FakeClock
from tests.ui.past_picture import answering, past
from tests.ui.picture import NOW_US, busy
from watchgate.core.model.records import Record, is_session_event
from watchgate.demo.demo_play import play
from watchgate.link.control_lines import ControlAnswer
from watchgate.link.protocol import Request, Result, Snapshot
from watchgate.ui.console.app import WatchgateApp
from watchgate.ui.source.replay_source import Recording

IDLE_AT = 91
"""The place in the recording behind which nothing happens for a while, where `idle` makes it so."""

REFUSED = {
    **dict.fromkeys(("d", "a", "A", "r", "X", "D", "e", "b", "t"),
                    "a replay: this was decided long ago"),
    "o": "a replay: that terminal may be another's by now",
    "O": "a replay has no core; q leaves it",
    "R": "a replay has no core; q leaves it",
    "x": "leave the replay first: q",
}  # fmt: skip
"""What would do something, and what is said of it in a replay, while a request is docked."""


@cache
def recorded() -> tuple[Record, ...]:
    """What the demo's cores recorded."""
    return tuple(play(120.0))


def idle(seconds: float) -> tuple[Record, ...]:
    """The same with nothing going on for a while."""
    later = round(seconds * 1_000_000)
    return tuple(
        record if place <= IDLE_AT else msgspec.structs.replace(record, at=record.at + later)
        for place, record in enumerate(recorded(), 1)
    )


def session(records: tuple[Record, ...] | None = None) -> tuple[Record, ...]:
    """The records of one of the sessions: nothing in them tells how the gate stood."""
    about = {(r.agent, r.session) for r in records or recorded() if is_session_event(r)}
    agent, name = min(about, key=str)
    return tuple(r for r in records or recorded() if (r.agent, r.session) == (agent, name))


def player_of(app: WatchgateApp) -> Any:
    """Where the replay that is shown stands."""
    recording = app.stage.recording
    assert recording is not None
    return recording.player


async def go_to(hands: Hands, place: int) -> None:
    """Stops at a place of the recording."""
    player = player_of(hands.app)
    player.step(place - player.played)
    hands.app.stage.recording.moved()  # type: ignore[union-attr]
    await hands.settle()


@asynccontextmanager
async def replaying(
    records: tuple[Record, ...] | None = None, *, size: tuple[int, int] = (120, 40), **more: Any
) -> AsyncIterator[Hands]:
    """A console that was opened on a recording."""
    recording, clock = Recording(records or recorded()), FakeClock(NOW_US)
    options = msgspec.structs.replace(OPTIONS, replay=recording, **more)
    hands = Hands(WatchgateApp(recording, recording, options, clock.now_s), clock)
    with keys_as_pressed():
        async with hands.app.run_test(size=size) as pilot:
            hands.pilot = pilot
            await hands.until(lambda: hands.app.bridge.link.state == "attached")
            await hands.settle()
            yield hands


def answers(request: Request) -> ControlAnswer:
    """A core with the past of the pictures, whose records are those of the recording."""
    if (request.verb, request.what) != ("search", "records") or request.from_seq is not None:
        return answering(past())(request)
    mine = past()[0]
    last = request.to_seq or recorded()[-1].seq
    about = {"agent": mine.agent, "session": mine.session}
    found = [msgspec.structs.replace(r, **about) for r in recorded()[::-1] if r.seq <= last]
    page = found[:50]
    more = page[-1].seq - 1 if len(found) > len(page) else None
    return Result(id=request.id, ok={"records": page, "next": more})


@asynccontextmanager
async def replayed(
    snapshot: Snapshot | None = None, *, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Bench]:
    """A console on a core, whose History was opened and its first session played."""
    async with running(snapshot or busy(), size=size) as bench:
        bench.source.answer = answers
        await bench.press("5")
        await bench.until(lambda: bench.app.screen.items)  # type: ignore[attr-defined]
        await bench.press("p")
        await bench.until(lambda: bench.app.stage.replaying)
        await bench.until(lambda: bench.app.bridge.link.state == "attached")
        await bench.settle()
        yield bench

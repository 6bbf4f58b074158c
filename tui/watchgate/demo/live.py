"""The demo for a console: a core of its own in a directory of its own, fed over its real socket."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio
import msgspec

from watchgate.core.base.clock import Clock, Instant
from watchgate.core.model.records import Draft
from watchgate.demo import demo_costs, demo_play
from watchgate.demo.demo_play import CONFIG, START_WALL_US, counted_ids
from watchgate.demo.demo_script import HOME, ScriptedPayload, reports, script
from watchgate.link.paths import Paths
from watchgate.service.host.core_host import hosted
from watchgate.service.hub.core_environment import Environment
from watchgate.service.system.system_clock import SystemClock

DEADLINE_S = 3660
LEAD_S = 1.0

OPENING_S = 15.0
"""So much of the script is played faster, from `LEAD_S` before it on: a request is seen soon."""

OPENING_SPEED = 6.0


class DemoClock:
    """A clock that begins at the demo's noon and runs `speed` times as fast as the real one.

    Its first `OPENING_S` pass `OPENING_SPEED` times as fast as that.
    """

    def __init__(self, speed: float, real: Clock | None = None) -> None:
        self.speed = speed
        self._real = real or SystemClock()
        self._begun_s = self._real.now().mono_s
        self._start = Instant(START_WALL_US, 0.0).plus(-LEAD_S)

    def now(self) -> Instant:
        """The demo's present moment."""
        passed_s = (self._real.now().mono_s - self._begun_s) * self.speed
        opening_s = min(passed_s, OPENING_S / OPENING_SPEED)
        return self._start.plus(opening_s * OPENING_SPEED + passed_s - opening_s)

    def real_s(self, at_s: float) -> float:
        """The real seconds that are left until a moment of the script; negative once it is over."""
        now_s, over_s = self.now().mono_s, OPENING_S - LEAD_S
        fast_s = max(0.0, min(at_s, over_s) - now_s)
        return (at_s - now_s - fast_s + fast_s / OPENING_SPEED) / self.speed


@contextmanager
def demo_core(speed: float) -> Iterator[tuple[Paths, DemoClock]]:
    """A running demo; nothing of it touches the user's directories, and nothing is left of it."""
    root = Path(tempfile.mkdtemp(prefix="watchgate-demo-"))
    paths = Paths(
        runtime_dir=root / "run",
        state_dir=root / "state",
        config=root / "config.toml",
        data_dir=root,
    )
    clock = DemoClock(speed)
    stage = Environment(
        ids=counted_ids(),
        home=HOME,
        protected=(f"{HOME}/.config/watchgate",),
        agent_of=lambda _pid: None,
        scripted=True,
        counted=partial(_counted, clock),
    )
    try:
        with hosted(paths, CONFIG, clock, stage, demo_play.live(speed)) as portal:
            feeding = portal.start_task_soon(_feed, paths.ingest_socket, clock)
            try:
                yield paths, clock
            finally:
                feeding.cancel()
    finally:
        shutil.rmtree(root, ignore_errors=True)


async def _counted(clock: DemoClock) -> AsyncIterator[Draft]:
    for usage in demo_costs.counted(START_WALL_US):
        await _until(clock, usage.at_s)
        yield demo_costs.draft(usage, START_WALL_US)


async def _feed(socket: Path, clock: DemoClock) -> None:
    async with anyio.create_task_group() as tasks:
        ended: dict[str, anyio.Event] = {}
        denied: set[str] = set()
        for report in reports():
            usage = {
                "watchgate": 1,
                "kind": "usage",
                "agent": report.actor.agent,
                "session": report.actor.session,
                "usage": report.usage,
            }
            line = msgspec.json.encode(usage) + b"\n"
            tasks.start_soon(_line, socket, clock, report.at_s, line)
        for step in script():
            if step.call and step.native == "PreToolUse":
                ended[step.call] = anyio.Event()
            tasks.start_soon(_step, socket, clock, step, ended, denied)


async def _step(
    socket: Path,
    clock: DemoClock,
    step: ScriptedPayload,
    ended: dict[str, anyio.Event],
    denied: set[str],
) -> None:
    """Sends one payload at its time, and none for a call that was denied.

    Args:
        socket: The core's ingest socket.
        clock: The demo's clock.
        step: The payload, and when it is due.
        ended: For each call an event that is set once its gate has answered.
        denied: The calls that were denied so far; this adds to them.
    """
    begins = step.native == "PreToolUse"
    if step.call and not begins:
        await ended[step.call].wait()
        if step.call in denied:
            return
    await _until(clock, step.at_s)
    answer = await _frame(socket, step)
    if step.call and begins:
        if answer.startswith(b"2 "):
            denied.add(step.call)
        ended[step.call].set()


async def _until(clock: DemoClock, at_s: float) -> None:
    left_s = clock.real_s(at_s)
    if left_s > 0:
        await anyio.sleep(left_s)


async def _frame(socket: Path, step: ScriptedPayload) -> bytes:
    payload = msgspec.json.encode(step.payload)
    head = (
        f"watchgate/1 {step.actor.agent} {step.lane.value}\nlength: {len(payload)}\n"
        f"event: {step.native}\n"
    )
    if step.lane.waits:
        head += f"deadline_ms: {DEADLINE_S * 1000}\n"
    async with await anyio.connect_unix(socket) as stream:
        await stream.send(head.encode() + b"\n" + payload)
        if not step.lane.waits:
            return b""
        try:
            return await stream.receive()
        except anyio.EndOfStream:
            return b""


async def _line(socket: Path, clock: DemoClock, at_s: float, line: bytes) -> None:
    await _until(clock, at_s)
    async with await anyio.connect_unix(socket) as stream:
        await stream.send(line)

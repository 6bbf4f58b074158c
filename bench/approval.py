"""An approval from question to answer: on an idle core, at 10,000 events/s, and at saturation.

Everything is real: a core in its own process, a hook frame on a new connection, an attached control
client that allows at once, and the allow on disk before it is told.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
import msgspec

from bench.figures import Beside, Figure, report
from bench.handback import echo
from bench.serving import Core, core, cpu_s
from watchgate.link.control_client import ControlClient, connect

RATE = 10_000
ALL = 0
"""The rate of a feeder that sends as much as is taken."""

BUSY_LIMIT, SATURATED_LIMIT_MS = 2.0, 10.0
SETTLE_S = 1.0
PIN = "of the benchmark"


ROW = b"x" * 600
FRAME = b"watchgate/1 claude gate\nevent: PreToolUse\nlength: 600\n\n" + ROW


class Trip(NamedTuple):
    """Milliseconds of one approval: until its answer, and of those that the core's loop ran."""

    wall_ms: float
    loop_ms: float


class Load(msgspec.Struct):
    """What a flood was: the rate that was sent, and the core's share of one processor."""

    rate: float = 0.0
    share: float = 0.0


def round_trips(place: Core, count: int) -> list[Trip]:
    """What each of `count` approvals took, one after another."""
    return anyio.run(_round_trips, place, count)


async def _round_trips(place: Core, count: int) -> list[Trip]:
    asking = ["ask", str(place.ingest), str(count), f"--core={place.pid}"]
    command = [sys.executable, "-m", "bench.approval_peer", *asking]
    async with connect(place.control) as client:
        # Before any agent asks, as a person does: what both were started by could be the agent's.
        await client.call("pin", action="set", pin=PIN)
        await client.call("unlock", pin=PIN)
        await client.attach()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_allow_all, client)
            done = await anyio.run_process(command, stderr=None)
            tasks.cancel_scope.cancel()
    return [Trip(*took) for took in json.loads(done.stdout)]


async def _allow_all(client: ControlClient) -> None:
    while True:
        for push in await client.batch():
            record = push.record
            if record is not None and record.kind == "approval.requested":
                await client.call(
                    "decide",
                    request=record.request,
                    digest=record.data["digest"],
                    decision="allow",
                    shown_ms=1_000,
                    confirmed=True,
                )


@contextmanager
def flood(place: Core, rate: int) -> Iterator[Load]:
    """Events at this rate from a process of its own, for as long as the block runs."""
    command = [sys.executable, "-m", "bench.approval_peer", "flood", str(place.ingest), str(rate)]
    load = Load()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as feeder:
        time.sleep(SETTLE_S)
        began_s, used_s = time.monotonic(), cpu_s(place.pid)
        yield load
        load.share = (cpu_s(place.pid) - used_s) / (time.monotonic() - began_s)
        said, _ = feeder.communicate()
        load.rate = float(said)


def figures(runs: int, count: int) -> Iterator[Figure]:
    """The median round trips, each load in turns, beside the least that can be."""
    took: dict[str, list[Trip]] = {"idle": [], "busy": [], "all": []}
    loads: dict[str, list[Load]] = {"busy": [], "all": []}
    least_ms: list[float] = []
    with core() as place, floor() as least:
        round_trips(place, 3)  # the first fill caches
        for _ in range(runs):
            least_ms += [least() for _ in range(count)]
            took["idle"] += round_trips(place, count)
            for name, rate in (("busy", RATE), ("all", ALL)):
                with flood(place, rate) as load:
                    took[name] += round_trips(place, count)
                loads[name].append(load)
                time.sleep(SETTLE_S)
    wall = {name: [trip.wall_ms for trip in each] for name, each in took.items()}
    loop = {name: [trip.loop_ms for trip in each] for name, each in took.items()}
    echoed = "an echo in C and one fdatasync" if shutil.which("cc") else "one fdatasync"
    written = Beside(echoed, statistics.median(least_ms))
    told = {name: f"p99 {_p99(each):.1f} ms of {len(each)}" for name, each in wall.items()}
    said = {name: f"{told[name]}; {_of_load(each)}" for name, each in loads.items()}
    note = f"idle; question, console, decision on disk, answer; {told['idle']}"
    yield from _loads("approval round trip, p50", wall, said, written, note)
    told = {name: f"p99 {_p99(each):.1f} ms of {len(each)}" for name, each in loop.items()}
    note = f"what the core did from question to answer; {told['idle']}"
    yield from _loads("approval, CPU of the core's loop meanwhile, p50", loop, told, None, note)


def _loads(
    name: str,
    took_ms: Mapping[str, list[float]],
    said: Mapping[str, str],
    least: Beside | None,
    note: str,
) -> Iterator[Figure]:
    """The medians of one measure, idle and under each load."""
    p50 = {load: statistics.median(each) for load, each in took_ms.items()}
    idle = Beside("idle", p50["idle"])
    yield Figure(f"{name}, idle", p50["idle"], "ms", least, None, note)
    rate = f"{name}, at {RATE:,} events/s"
    yield Figure(rate, p50["busy"], "ms", idle, BUSY_LIMIT, said["busy"])
    limit = SATURATED_LIMIT_MS
    yield Figure(f"{name}, at saturation", p50["all"], "ms", idle, limit, said["all"], True)


def _of_load(loads: list[Load]) -> str:
    rate = statistics.median(load.rate for load in loads)
    share = statistics.median(load.share for load in loads)
    return f"{rate:,.0f} events/s taken, the core at {share:.0%} of a processor"


@contextmanager
def floor() -> Iterator[Callable[[], float]]:
    """Milliseconds of the least that an approval can be: a frame to an echo, a row to the disk."""
    compiler = shutil.which("cc")
    with tempfile.TemporaryDirectory(prefix="wg-") as directory, ExitStack() as stack:
        path = stack.enter_context(echo(compiler)).ingest if compiler else None
        disk = os.open(Path(directory) / "rows", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

        def trip_ms() -> float:
            start_s = time.perf_counter()
            if path:
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.connect(str(path))
                    connection.sendall(FRAME)
                    assert connection.recv(64)
            os.write(disk, ROW)
            os.fdatasync(disk)
            return (time.perf_counter() - start_s) * 1e3

        yield trip_ms
        os.close(disk)


def _p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--count", type=int, default=60)
    given = parser.parse_args()
    return report(figures(given.runs, given.count))


if __name__ == "__main__":
    sys.exit(main())

"""An approval from question to answer, on an idle core and on one that takes 10,000 events/s.

Everything is real: a core in its own process, a hook frame on a new connection, an attached control
client that allows at once, and the allow on disk before it is told.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import msgspec

from bench.figures import Figure, report
from bench.serving import Core, core, cpu_s
from watchgate.link.client import ControlClient, connect

RATE = 10_000
LIMIT = 2.0
SETTLE_S = 1.0


class Load(msgspec.Struct):
    """What a flood was: the rate that was sent, and the core's share of one processor."""

    rate: float = 0.0
    share: float = 0.0


def round_trips_ms(place: Core, count: int) -> list[float]:
    """Milliseconds of each of `count` approvals, one after another."""
    return anyio.run(_round_trips, place, count)


async def _round_trips(place: Core, count: int) -> list[float]:
    command = [sys.executable, "-m", "bench.approval_peer", "ask", str(place.ingest), str(count)]
    async with connect(place.control) as client:
        await client.attach()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_allow_all, client)
            done = await anyio.run_process(command)
            tasks.cancel_scope.cancel()
    took_ms: list[float] = json.loads(done.stdout)
    return took_ms


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
    """The median round trip under load to that of an idle core, each in turns."""
    idle: list[float] = []
    busy: list[float] = []
    loads: list[Load] = []
    with core() as place:
        round_trips_ms(place, 3)  # the first fill caches
        for _ in range(runs):
            idle += round_trips_ms(place, count)
            with flood(place, RATE) as load:
                busy += round_trips_ms(place, count)
            loads.append(load)
            time.sleep(SETTLE_S)
    rate = statistics.median(load.rate for load in loads)
    share = statistics.median(load.share for load in loads)
    saturated = "; SATURATED: it takes no more" if rate < 0.95 * RATE else ""
    yield Figure(
        f"approval round trip, p50 at {RATE:,} events/s to idle",
        statistics.median(busy) / statistics.median(idle),
        LIMIT,
        f"p50 {statistics.median(busy):.2f} / {statistics.median(idle):.2f} ms, p99 "
        f"{_p99(busy):.1f} / {_p99(idle):.1f} ms of {len(idle)} each; {rate:,.0f} events/s, the "
        f"core at {share:.0%} of a processor{saturated}",
    )


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

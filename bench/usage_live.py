"""How long after a line of usage was written a console has it, in a core that follows transcripts.

The core runs in this process with real clocks, over a folder of other transcripts. A line is added
to one of them at odd moments; timed is until its record comes over the control socket. Beside it
stand how late the core's loop was while it read everything at the start, and what a record costs
the loop to fold.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import anyio
import msgspec

from bench.figures import Figure, report
from bench.usage_files import write_bulk
from watchgate.agents.usage import usage_places
from watchgate.core.config.config import Config
from watchgate.core.model.records import COUNTED, Record
from watchgate.core.model.usage_records import CountedData, CountedRow, Part
from watchgate.core.state.state import State
from watchgate.core.usage.session_usage import SessionUsage
from watchgate.link.control_client import ControlClient, connect
from watchgate.link.paths import Paths
from watchgate.service.host.core_host import CoreHost
from watchgate.service.hub.core_environment import Environment
from watchgate.service.system.system_clock import SystemClock

SHOWN_LIMIT_MS, LATE_LIMIT_MS, FOLD_LIMIT_US = 1_500.0, 100.0, 1_000.0
SESSION = "5f000000-0000-4000-8000-000000000001"
TICK_S = 0.005
SETTLED_S = 3.0
MIB = 1024 * 1024
P99 = 99


def usage_line(number: int) -> bytes:
    """One call of a model that has a price."""
    return msgspec.json.encode(
        {
            "type": "assistant", "sessionId": SESSION, "uuid": f"u{number}",
            "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "requestId": f"req_{number}", "isSidechain": False, "cwd": "/src/app",
            "message": {
                "id": f"msg_{number}", "model": "claude-opus-4-5", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "done"}],
                "usage": {"input_tokens": 12, "output_tokens": 512},
            },
        }
    ) + b"\n"  # fmt: skip


class Late:
    """How late the loop was at its latest, in milliseconds, since this was last asked."""

    def __init__(self) -> None:
        self.samples_ms: list[float] = []

    async def run(self) -> None:
        while True:
            due = time.perf_counter() + TICK_S
            await anyio.sleep(TICK_S)
            self.samples_ms.append((time.perf_counter() - due) * 1_000)


async def told(client: ControlClient, count: int) -> None:
    """Waits for the record that has so many calls of the session."""
    while True:
        for push in await client.batch():
            record = push.record
            if record is None or record.kind != COUNTED or record.session != SESSION:
                continue
            if sum(row["calls"] for row in record.data["rows"]) >= count:
                return


def prepared(folder: Path) -> tuple[Path, int]:
    """The transcript that grows, with one call in it, and how many there are."""
    path = folder / "claude" / "projects" / "-src-app" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(usage_line(0))
    return path, sum(1 for _ in folder.rglob("*.jsonl"))


def append(path: Path, line: bytes) -> None:
    """Adds a line, as an agent does."""
    with path.open("ab") as file:
        file.write(line)


async def measured(folder: Path, runs: int) -> tuple[list[float], list[float], float]:
    """Milliseconds to each record, how late the loop was at the start, and seconds of that."""
    base = Path(tempfile.mkdtemp(prefix="wgb", dir="/tmp"))
    paths = Paths(base / "run", base / "state", base / "config.toml", base / "data")
    env = {"CLAUDE_CONFIG_DIR": f"{folder}/claude", "CODEX_HOME": f"{folder}/codex"}
    stage = Environment(
        ids=lambda: "k" * 26, home=str(base), protected=(), agent_of=lambda _pid: None,
        places=usage_places(env, str(base)),
    )  # fmt: skip
    host = CoreHost(paths, Config(), SystemClock(), stage)
    path, files = prepared(folder)
    late, shown_ms, dice = Late(), [], random.Random(8)
    async with anyio.create_task_group() as tasks:
        await tasks.start(host.run)
        start = time.perf_counter()
        tasks.start_soon(late.run)
        async with connect(paths.control_socket) as client:
            await client.attach()
            while len(await usage(paths)) < files:  # noqa: ASYNC110 - another task's work
                await anyio.sleep(0.1)
            took_s = time.perf_counter() - start
            at_start = late.samples_ms[:]
            await anyio.sleep(SETTLED_S)
            for number in range(1, runs + 1):
                await anyio.sleep(dice.uniform(1.0, 2.5))
                append(path, usage_line(number))
                added = time.perf_counter()
                await told(client, number + 1)
                shown_ms.append((time.perf_counter() - added) * 1_000)
        host.stop("the benchmark")
        tasks.cancel_scope.cancel()
    return shown_ms, at_start, took_s


async def usage(paths: Paths) -> list[SessionUsage]:
    """The sessions that the core counts by now."""
    async with connect(paths.control_socket) as client:
        return list((await client.attach()).usage.sessions)


def fold_us(records: int = 2_000) -> float:
    """What one record of a session with a month of days, turns and sub-agents costs."""
    rows = tuple(
        CountedRow(day=20_000 + day, model=model, sub=sub, calls=9, input=5, output=5, computed=9)
        for day in range(10)
        for model in ("big", "small")
        for sub in ("", "a")
    )
    turns = tuple(Part(id=f"t{number}", at=number, cost=1) for number in range(3))
    data = msgspec.to_builtins(CountedData(rows=rows, source="computed", turns=turns))
    state, samples = State(), []
    for seq in range(1, records + 1):
        record = Record(
            v=1, seq=seq, core="c", at=20_010 * 86_400_000_000, kind=COUNTED, agent="claude",
            session=f"s{seq % 200}", data=data,
        )  # fmt: skip
        start = time.perf_counter()
        state.apply(record)
        samples.append((time.perf_counter() - start) * 1e6)
    return statistics.median(samples)


def figures(mib: int, runs: int) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as made:
        write_bulk(Path(made), mib * MIB)
        shown_ms, late_ms, took_s = anyio.run(measured, Path(made), runs)
    told = f"median {statistics.median(shown_ms):.0f} ms; {runs} lines, {mib} MiB beside them"
    name = "usage, from the line to the console, slowest"
    yield Figure(name, max(shown_ms), "ms", None, SHOWN_LIMIT_MS, told)
    late = statistics.quantiles(late_ms, n=100)[P99 - 1]
    told = f"most {max(late_ms):.0f} ms, over {took_s:.1f} s in which all is read"
    name = "usage, how late the loop is at the start, p99"
    yield Figure(name, late, "ms", None, LATE_LIMIT_MS, told)
    name = "usage, one record in the state"
    yield Figure(name, fold_us(), "us", None, FOLD_LIMIT_US, "40 rows, 3 turns")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--mib", type=int, default=256, help="so many other transcripts")
    given = parser.parse_args()
    return report(figures(given.mib, given.runs))


if __name__ == "__main__":
    sys.exit(main())

"""The attached console: a tick at 100,000 rows, its load by event rate, and its first screen."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.console_feed import record
from bench.figures import Beside, Figure, interleaved_medians, report
from bench.serving import core, cpu_s
from bench.terminal import SCREEN, terminal
from watchgate.core.state.state import State
from watchgate.service.system.system_clock import SystemClock
from watchgate.ui.console.app import WatchgateApp
from watchgate.ui.source.record_source import LinkSource

ROWS, FEW_ROWS = 100_000, 1_000
TICK_ROWS, TICK_TURNS = 50, 3
KEPT_LIMIT = 1.5
"""A tick costs what is shown, however much is kept."""

TICK_LIMIT_MS, RATE_LIMIT, FIRST_LIMIT = 40.0, 1.3, 1.35
SLOW, FAST = 200, 10_000
BARE = (sys.executable, "-c", "import os, textual.app; os._exit(0)")
"""Without tearing down what was imported: the console's time ends with its first screen."""

ATTACHED = re.compile(rb"No agent is connected yet\.")
NOBODY = Path("/nonexistent/control.sock")


def tick_figures(ticks: int) -> Iterator[Figure]:
    """CPU of one tick that brings 50 rows to a console with a full ring, from fold to repaint."""
    few, full = _filled(FEW_ROWS), _filled(ROWS)
    took_ms: dict[int, list[float]] = {FEW_ROWS: [], ROWS: []}
    for _ in range(TICK_TURNS):
        for rows, state in ((FEW_ROWS, few), (ROWS, full)):
            took_ms[rows] += asyncio.run(_ticks(state, ticks))
    median = statistics.median(took_ms[ROWS])
    told = f"{TICK_ROWS} rows come to {ROWS:,}, {SCREEN[0]}x{SCREEN[1]}"
    note = f"{told}, slowest of {TICK_TURNS * ticks}: {max(took_ms[ROWS]):.1f} ms"
    yield Figure("console tick, CPU", median, "ms", None, TICK_LIMIT_MS, note)
    beside = Beside(f"where they come to {FEW_ROWS:,}", statistics.median(took_ms[FEW_ROWS]))
    yield Figure("console tick, CPU", median, "ms", beside, KEPT_LIMIT, told)


def _filled(rows: int) -> State:
    """What a console shows, with so many calls in it."""
    state, seq = State(), 0
    while len(state.rows) < rows:
        seq += 1
        state.apply(record(seq, seq * 1_000))
    return state


async def _ticks(state: State, ticks: int) -> list[float]:
    console = WatchgateApp(LinkSource(NOBODY), SystemClock())
    seq, took_ms = state.seq, []
    async with console.run_test(size=SCREEN) as pilot:
        console.bridge.state = state
        for number in range(ticks + 3):
            await pilot.pause()
            start = time.process_time()
            for _ in range(2 * TICK_ROWS):
                seq += 1
                state.apply(record(seq, seq * 1_000))
            console.bridge.revision += 1
            console.tick()
            await pilot.pause()
            if number >= 3:
                took_ms.append((time.process_time() - start) * 1_000)
    return took_ms


def rate_figure(seconds: float, runs: int) -> Figure:
    """CPU of an attached console in a pseudo-terminal while its core sends much or little."""
    said: dict[int, str] = {}

    def load(rate: int) -> float:
        with _core(rate) as socket, tempfile.NamedTemporaryFile() as result:
            _in_terminal("bench.console_run", str(socket), str(seconds), result.name)
            share, rows, skipped = Path(result.name).read_text().split()
        # A console that lost its core would be cheap indeed.
        if int(rows) + int(skipped) // 2 < rate * seconds / 4:
            raise RuntimeError(f"only {rows} rows came at {rate} records/s")
        said[rate] = f"{rows} rows, {skipped} records skipped at {rate:,}/s"
        return float(share)

    slow, fast = interleaved_medians([lambda: load(SLOW), lambda: load(FAST)], runs)
    detail = f"{said[FAST]}; {said[SLOW]}"
    name = f"console at {FAST:,} events/s, share of a processor"
    calm = Beside(f"at {SLOW} events/s", slow * 100)
    return Figure(name, fast * 100, "%", calm, RATE_LIMIT, detail)


def first_figure(runs: int) -> Figure:
    """CPU of a console until its first screen, to that of importing Textual."""

    def bare() -> float:
        return _cpu_of(lambda: subprocess.run(BARE, check=True))

    def first() -> float:
        return _cpu_of(lambda: _in_terminal("bench.console_run", str(NOBODY)))

    # An installed package is compiled; where nothing may be written, ours would be compiled anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    bare()  # the first of each fills caches
    first()
    base, console = interleaved_medians([bare, first], runs)
    return _start("console until its first screen, CPU", console, base, runs)


def attached_figure(runs: int) -> Figure:
    """CPU of `watchgate` until it shows a running core, to that of importing Textual."""

    def bare() -> float:
        return _cpu_of(lambda: subprocess.run(BARE, check=True))

    with core() as running:
        place = running.control.parent
        here = {"WATCHGATE_RUNTIME_DIR": str(place), "WATCHGATE_STATE_DIR": str(place / "state")}

        def attached() -> float:
            with terminal("watchgate", environment=here) as screen:
                screen.until(ATTACHED)
                used_s = cpu_s(screen.process.pid)
                screen.process.kill()
            return used_s

        bare()
        attached()
        base, console = interleaved_medians([bare, attached], runs)
    return _start("`watchgate` until it shows a running core, CPU", console, base, runs)


def _start(name: str, console_s: float, base_s: float, runs: int) -> Figure:
    least = Beside("a process that imports textual.app", base_s * 1_000)
    return Figure(name, console_s * 1_000, "ms", least, FIRST_LIMIT, f"medians of {runs}")


@contextmanager
def _core(rate: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        socket = Path(directory) / "control.sock"
        core = subprocess.Popen([sys.executable, "-m", "bench.console_feed", socket, str(rate)])
        try:
            while not socket.exists():
                time.sleep(0.02)
            yield socket
        finally:
            core.terminate()
            core.wait()


def _in_terminal(*module: str) -> None:
    """Runs a module in a pseudo-terminal to its end, reading all that it writes."""
    with terminal(*module) as screen, suppress(EOFError):
        while True:
            screen.read()
    if screen.process.returncode:
        raise RuntimeError(f"{' '.join(module)} ended with status {screen.process.returncode}")


def _cpu_of(run: Callable[[], object]) -> float:
    """CPU seconds of the child that this runs and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def figures(ticks: int, seconds: float, runs: int) -> Iterator[Figure]:
    """All figures of the console, each as soon as it is measured; without seconds no load."""
    yield from tick_figures(ticks)
    if seconds:
        yield rate_figure(seconds, runs)
    yield first_figure(2 * runs + 1)
    yield attached_figure(2 * runs + 1)


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the figures; the exit code, not 0 when one broke its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ticks", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-load", action="store_true", help="ticks and starts only")
    given = parser.parse_args(argv)
    return report(figures(given.ticks, 0 if given.no_load else given.seconds, given.runs))


if __name__ == "__main__":
    sys.exit(main())

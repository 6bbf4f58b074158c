"""The operator's keys while 5,000 events a second arrive at a console that keeps 100,000 calls."""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from bench.figures import Beside, Figure, report
from bench.serving import cpu_s, memory_bytes
from bench.terminal import Terminal, terminal

ROWS = 100_000
RATE = 5_000
HELD_S = 0.25
"""How long a decision key waits for another one to follow (ui/approval/arming.py)."""

SEEN_LIMIT_MS, SEEN_LIMIT, VERDICT_LIMIT_MS = 50.0, 6.0, 50.0
IDLE_LIMIT, MEMORY_LIMIT = 1.0, 1.0
BASE_BYTES, ROW_BYTES = 40 * 1024 * 1024, 1_024
APART_S, STEP_S = 0.35, 0.02
NEXT_S = 1.0
"""Between two decisions: the next request must have been drawn for a while."""

FOLLOWS = {
    key: re.compile(rb"follow (?:\x1b\[[\d;]*m)+" + word)
    for key, word in ((b"k", b"off"), (b"G", b"on"))
}


class Console:
    """A console with a full ring at a core of its own, and what its keys took (ms)."""

    def __init__(self, screen: Terminal, decisions: IO[str]) -> None:
        self.seen_ms: list[float] = []
        self.verdicts_ms: list[float] = []
        self._screen = screen
        self._decisions = decisions

    @property
    def memory_bytes(self) -> int:
        """What it has in memory now."""
        return memory_bytes(self._screen.process.pid)

    def idle_share(self, seconds: float) -> float:
        """The part of a processor that it uses while nobody touches it."""
        before = cpu_s(self._screen.process.pid)
        self._screen.drain(seconds)
        return (cpu_s(self._screen.process.pid) - before) / seconds

    def rest(self, seconds: float) -> None:
        """Lets it draw what it wants to."""
        self._screen.drain(seconds)

    def look(self, key: bytes) -> None:
        """Press a key, and see how long it takes to show what it did."""
        self.seen_ms.append(_seen_ms(self._screen, key))

    def decide(self, key: bytes) -> None:
        """Decides the docked request, and see how long the verdict takes to the core."""
        self.verdicts_ms.append(_verdict_ms(self._screen, key, self._decisions))


@contextmanager
def console(rate: int, pending: int) -> Iterator[Console]:
    """A console under so many events a second, with requests to decide."""
    with _core(rate, pending) as (socket, decisions), tempfile.TemporaryDirectory() as place:
        ready = Path(place) / "ready"
        with terminal("bench.keys_run", str(socket), str(ROWS), str(ready)) as screen:
            try:
                while not ready.exists():
                    screen.drain(0.1)
                screen.drain(2.0)
                yield Console(screen, decisions)
            finally:
                screen.process.kill()


def _rest(consoles: Sequence[Console], seconds: float) -> None:
    """Lets them all draw: one whose terminal nobody reads would come to a stop."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for each in consoles:
            each.rest(STEP_S)


def _seen_ms(screen: Terminal, key: bytes) -> float:
    """From the key to the frame that shows what it did."""
    start = time.monotonic()
    screen.write(key)
    screen.until(FOLLOWS[key])
    return (time.monotonic() - start) * 1_000


def _verdict_ms(screen: Terminal, key: bytes, decisions: IO[str]) -> float:
    """From the moment that a key commits to its verdict's arrival at the core."""
    start = time.monotonic()
    screen.write(key)
    screen.drain(NEXT_S)
    _, arrived_s = decisions.readline().split()
    return (float(arrived_s) - start - HELD_S) * 1_000


@contextmanager
def _core(rate: int, pending: int) -> Iterator[tuple[Path, IO[str]]]:
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        socket = Path(directory) / "control.sock"
        command = [sys.executable, "-m", "bench.keys_feed", str(socket), str(rate), str(pending)]
        core = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert core.stdout is not None
        with core.stdout:
            try:
                while not socket.exists():
                    time.sleep(0.02)
                yield socket, core.stdout
            finally:
                core.terminate()
                core.wait()


def _p95(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=20)[-1]


def figures(keys: int, verdicts: int, idle_s: float) -> Iterator[Figure]:
    """All figures of the keys: a quiet console and a busy one in turns, so that both are alike."""
    with console(0, 0) as untouched:
        share = untouched.idle_share(idle_s)
    with console(0, verdicts) as quiet:
        counting = quiet.idle_share(idle_s)
        with console(RATE, verdicts) as busy:
            both = (quiet, busy)
            for turn in range(keys):
                for each in both:
                    _rest(both, APART_S)
                    each.look(b"kG"[turn % 2 :][:1])
            for turn in range(verdicts):
                for each in both:
                    _rest(both, NEXT_S)
                    each.decide(b"da"[turn % 2 :][:1])
            memory_bytes = busy.memory_bytes
    idle, median = statistics.median(quiet.seen_ms), statistics.median(busy.seen_ms)
    seen, verdict = _p95(busy.seen_ms), max(busy.verdicts_ms)
    load = f"{ROWS:,} calls kept, {RATE:,} events/s, {keys} keys"
    still = Beside("the median of a quiet console", idle)
    yield Figure("key to screen, p50", median, "ms", still, SEEN_LIMIT, load)
    name = "key to screen, p95"
    yield Figure(name, seen, "ms", None, SEEN_LIMIT_MS, load)
    told = f"quiet, p95 {_p95(quiet.seen_ms):.1f} ms; {load}"
    yield Figure(name, seen, "ms", still, SEEN_LIMIT, told)
    still = Beside("the slowest of a quiet console", max(quiet.verdicts_ms))
    told = f"{verdicts} verdicts"
    name = "verdict after its key commits, slowest"
    yield Figure(name, verdict, "ms", still, VERDICT_LIMIT_MS, told, absolute=True)
    told = f"{idle_s:.0f} s; {counting:.1%} with {verdicts} requests counting down"
    name = "idle console, share of a processor"
    yield Figure(name, share * 100, "%", None, IDLE_LIMIT, told)
    allowed = Beside("40 MiB and 1 KiB a call", (BASE_BYTES + ROWS * ROW_BYTES) / 1e6)
    told = f"resident; {ROWS:,} calls kept"
    yield Figure("memory of a console", memory_bytes / 1e6, "MB", allowed, MEMORY_LIMIT, told)


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the figures; the exit code, not 0 when one broke its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--verdicts", type=int, default=20)
    parser.add_argument("--idle", type=float, default=20.0, metavar="S")
    given = parser.parse_args(argv)
    return report(figures(given.keys, given.verdicts, given.idle))


if __name__ == "__main__":
    sys.exit(main())

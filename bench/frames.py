"""A frame of the console that draws everything, beside one that draws a single line.

CPU of drawing, without a terminal.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Callable, Iterator

from textual.geometry import Region
from textual.pilot import Pilot

from bench.console import NOBODY
from bench.console_feed import record
from bench.figures import Beside, Figure, report
from bench.terminal import SCREEN
from watchgate.core.state.state import State
from watchgate.service.system.system_clock import SystemClock
from watchgate.ui.console.app import WatchgateApp
from watchgate.ui.source.record_source import LinkSource
from watchgate.ui.widgets.base.pane import Pane

ROWS = 2_000
LIMIT = 10.0
WARM = 3


async def frames_ms(runs: int) -> tuple[list[float], list[float]]:
    """CPU milliseconds of whole frames and of frames that change one line, in turns."""
    console = WatchgateApp(LinkSource(NOBODY), SystemClock())
    state = State()
    for seq in range(1, 2 * ROWS):
        state.apply(record(seq, seq * 1_000))
    async with console.run_test(size=SCREEN) as pilot:
        console.bridge.state = state
        console.bridge.revision += 1
        console.tick()
        await pilot.pause()
        panes = [each for each in console.screen.query(Pane) if each.size.area]
        largest = max(panes, key=lambda pane: pane.size.area)

        def whole() -> None:
            for pane in panes:
                pane.refresh()

        def line() -> None:
            largest.refresh(Region(0, largest.size.height // 2, largest.size.width, 1))

        both: tuple[list[float], list[float]] = ([], [])
        for _ in range(runs + WARM):
            for draw, kept in zip((whole, line), both, strict=True):
                kept.append(await _drawn_ms(pilot, draw))
    return both[0][WARM:], both[1][WARM:]


async def _drawn_ms(pilot: Pilot[str], draw: Callable[[], None]) -> float:
    await pilot.pause()
    start = time.process_time()
    draw()
    await pilot.pause()
    return (time.process_time() - start) * 1_000


def figures(runs: int) -> Iterator[Figure]:
    whole, line = map(statistics.median, asyncio.run(frames_ms(runs)))
    beside = Beside("a frame that changes one line", line)
    told = f"{SCREEN[0]}x{SCREEN[1]}, medians of {runs}"
    yield Figure("whole frame of the console, CPU", whole, "ms", beside, LIMIT, told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    return report(figures(parser.parse_args().runs))


if __name__ == "__main__":
    sys.exit(main())

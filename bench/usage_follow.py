"""What following the transcripts of live sessions costs: CPU time, as a part of each second.

Fifty sessions among a history of many files in many folders; each second the book looks for new
files and reads on. Nothing is written in the first figure; in the second each session adds a line
each second, and the third is how long one such line takes from the disk into the sums.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure, report
from bench.usage_files import claude_lines
from watchgate.agents.usage import usage_places
from watchgate.core.usage.ledger import Ledger
from watchgate.service.usage.usage_files import UsageFiles

IDLE_LIMIT, BUSY_LIMIT = 1.0, 3.0
"""Percent of one core."""
SESSIONS, HISTORY, FOLDERS, SUBS = 50, 3000, 60, 300
DAY_US = 86_400_000_000


def history(root: Path) -> None:
    """Transcripts of three lines each in many projects, of which some have sub-agents."""
    dice = random.Random(8)
    for number in range(HISTORY):
        session = f"00000000-0000-4000-8000-{number:012d}"
        path = root / f"-src-{number % FOLDERS}" / f"{session}.jsonl"
        paths = [path]
        if number < SUBS:
            paths.append(path.with_suffix("") / "subagents" / "agent-1.jsonl")
        for each in paths:
            each.parent.mkdir(parents=True, exist_ok=True)
            lines = claude_lines(session, dice)
            each.write_bytes(b"".join(next(lines) for _ in range(3)))
            os.utime(each, (1_790_000_000 + number, 1_790_000_000 + number))


def ticks_ms(book: UsageFiles, ticks: int, live: list[tuple[Path, Iterator[bytes]]]) -> list[float]:
    """The CPU time of each tick, with a line more for each live session before it."""
    took = []
    for _ in range(ticks):
        for path, lines in live:
            with path.open("ab") as file:
                file.write(next(lines))
        start = time.process_time()
        book.look()
        book.refresh()
        took.append((time.process_time() - start) * 1e3)
    return took


def figures(ticks: int, root: Path) -> Iterator[Figure]:
    projects = root / "projects"
    history(projects)
    dice = random.Random(9)
    live = []
    for number in range(SESSIONS):
        session = f"11111111-0000-4000-8000-{number:012d}"
        path = projects / f"-src-{number % FOLDERS}" / f"{session}.jsonl"
        lines = claude_lines(session, dice)
        path.write_bytes(b"".join(next(lines) for _ in range(300)))
        live.append((path, lines))
    ledger = Ledger(lambda _call: None, lambda at_us: at_us // DAY_US)
    book = UsageFiles(usage_places({"CLAUDE_CONFIG_DIR": str(root)}, str(root)), ledger)
    ticks_ms(book, 20, [])
    idle = statistics.fmean(ticks_ms(book, ticks, []))
    told = f"each second; {SESSIONS} sessions live, {HISTORY + SUBS:,} files; {ticks} ticks"
    name = "usage, following, nothing written, share of a processor"
    yield Figure(name, idle / 10, "%", None, IDLE_LIMIT, told)
    busy = statistics.fmean(ticks_ms(book, ticks, live))
    told = f"{(busy - idle) / SESSIONS * 1e3:.0f} us a line more"
    name = "usage, following, a line in each session, share of a processor"
    yield Figure(name, busy / 10, "%", None, BUSY_LIMIT, told)
    one = statistics.median(ticks_ms(book, ticks, live[:1]))
    yield Figure("usage, a line from the disk into the sums", one, "ms", note=f"{ticks} ticks")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ticks", type=int, default=300)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        return report(figures(given.ticks, Path(made)))


if __name__ == "__main__":
    sys.exit(main())

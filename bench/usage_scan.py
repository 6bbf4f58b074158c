"""What counting a month of transcripts costs, against only decoding their lines.

The bare pass decodes each line into a typed value with those fields that a counter of tokens needs,
and does nothing with it. The count finds the files, reads them, makes calls of them, and adds them
up with prices, once without a cache and once from it. CPU time, in turns.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.figures import Beside, Figure, interleaved_medians, report
from bench.usage_bare import bare
from bench.usage_files import write_bulk
from watchgate.agents.usage import usage_places
from watchgate.core.usage.ledger import Ledger
from watchgate.core.usage.pricing import Rates, Tariff
from watchgate.core.usage.usage_calls import UsageCall
from watchgate.service.usage.usage_files import UsageFiles

SCAN_LIMIT, CACHE_LIMIT = 1.3, 0.4
MIB = 1024 * 1024
DAY_US = 86_400_000_000
TARIFF = Tariff(((0, Rates(4_000_000, 20_000_000, 200_000, 5_000_000, 8_000_000)),))


def cpu_s(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def tariff_of(_call: UsageCall) -> Tariff:
    return TARIFF


def counted(folder: Path, cache: Path | None = None, *, save: bool = False) -> Ledger:
    """All calls of all transcripts in a ledger."""
    ledger = Ledger(tariff_of, lambda at_us: at_us // DAY_US)
    env = {"CLAUDE_CONFIG_DIR": f"{folder}/claude", "CODEX_HOME": f"{folder}/codex"}
    book = UsageFiles(usage_places(env, f"{folder}/none"), ledger, cache=cache)
    book.look()
    book.refresh()
    if save:
        book.save()
    return ledger


def figures(folder: Path, runs: int) -> Iterator[Figure]:
    size = sum(path.stat().st_size for path in folder.rglob("*.jsonl"))
    with tempfile.TemporaryDirectory() as kept:
        cache = Path(kept) / "usage"
        calls = len(list(counted(folder, cache, save=True).calls()))
        lines_s, scan_s, cached_s = interleaved_medians(
            [
                lambda: cpu_s(lambda: bare(str(folder))),
                lambda: cpu_s(lambda: counted(folder)),
                lambda: cpu_s(lambda: counted(folder, cache)),
            ],
            runs,
        )
    speed = size / MIB / scan_s
    told = f"{size // MIB:,} MiB, {calls:,} calls, medians of {runs}"
    least = Beside("decoding the lines", lines_s)
    note = f"{speed:,.0f} MiB/s; {told}"
    yield Figure("counting transcripts, CPU", scan_s, "s", least, SCAN_LIMIT, note)
    whole = Beside("the same without a cache", scan_s)
    yield Figure("counting from the cache, CPU", cached_s, "s", whole, CACHE_LIMIT, told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--mib", type=int, default=1024, help="so many transcripts are written")
    parser.add_argument("--folder", type=Path, help="measure these (`claude`, `codex`) instead")
    given = parser.parse_args()
    if given.folder is not None:
        return report(figures(given.folder, given.runs))
    with tempfile.TemporaryDirectory() as made:
        write_bulk(Path(made), given.mib * MIB)
        return report(figures(Path(made), given.runs))


if __name__ == "__main__":
    sys.exit(main())

"""All figures, each file in a process of its own, and a table of them at the end.

The exit code is 1 only when a ratio breaks its limit by more than a tenth: two things run side by
side on a busy machine still move by some percent. An absolute figure depends on the machine; it is
shown as missed, and no more.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

MARGIN = 1.1
QUICK: dict[str, tuple[str, ...]] = {
    "client": ("--quick",),
    "ingest": ("--runs=3", "--events=60000", "--connects=500"),
    "handback": ("--runs=15",),
    "core": ("--runs=3",),
    "dispatch": ("--runs=9",),
    "hooks": ("--runs=60",),
    "extension": ("--turns=40",),
    "approval": ("--runs=1", "--count=40"),
    "policy": ("--runs=9", "--lines=2000"),
    "journal": ("--runs=3", "--records=200000"),
    "usage_parse": ("--runs=5", "--mib=32"),
    "usage_live": ("--runs=4", "--mib=64"),
    "history": ("--records=100000",),
    "usage_scan": ("--mib=256", "--runs=3"),
    "usage_command": ("--runs=5",),
    "usage_follow": ("--ticks=100",),
    "keys": ("--keys=30", "--verdicts=6", "--idle=5"),
    "console": ("--ticks=10", "--seconds=2", "--runs=1"),
}


def lines(name: str, options: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """What one file of figures prints, as it comes."""
    command = [sys.executable, "-m", f"bench.{name}", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        figures = 0
        for line in process.stdout:
            print(line, end="", flush=True)
            figures += 1
            yield json.loads(line)
    if process.returncode and not figures:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")


def broken(figure: dict[str, Any]) -> bool:
    """Whether a ratio misses its limit by more than the margin."""
    limit = figure["limit"]
    return limit is not None and figure["unit"] == "x" and figure["ratio"] > limit * MARGIN


def table(figures: list[dict[str, Any]]) -> str:
    """One line for each figure: its name, value, limit, and how it stands."""
    rows = []
    for figure in figures:
        limit, unit = figure["limit"], figure["unit"]
        word = "ok" if figure["ok"] else "MISSED" if broken(figure) else "over"
        shown = "-" if limit is None else f"{limit:.2f} {unit}"
        value = f"{figure['ratio']:.2f} {unit}"
        rows.append(f"{figure['name']:55} {value:>11} {shown:>11}  {word if limit else 'told'}")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer runs, rougher medians")
    parser.add_argument("only", nargs="*", metavar="NAME", help=f"of: {', '.join(QUICK)}")
    given = parser.parse_args()
    if unknown := set(given.only) - set(QUICK):
        parser.error(f"no figures are called {', '.join(sorted(unknown))}")
    found = [
        line
        for name in given.only or QUICK
        for line in lines(name, QUICK[name] if given.quick else ())
        if "ratio" in line
    ]
    print(table(found))
    return 1 if any(map(broken, found)) else 0


if __name__ == "__main__":
    sys.exit(main())

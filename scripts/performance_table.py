"""Writes docs/performance.md and the README's few figures from what `make bench` measured.

`python -m scripts.performance_table [--check]`. Everything comes from `bench/report.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from scripts.marked import as_table, replaced, written

ROOT: Final = Path(__file__).resolve().parent.parent
REPORT: Final = ROOT / "bench" / "report.json"
DOCUMENT: Final = ROOT / "docs" / "performance.md"
README: Final = ROOT / "README.md"
TARGET: Final = "performance-table"
Told = dict[str, Any]
HEAD: Final = """# Performance

    make bench

measures everything on this page again, in about a quarter of an hour, and writes it. A hook runs
before every call of a tool, and an approval waits for a person: what Watchgate adds must be too
little to notice. [native-client.md](native-client.md) tells how to have the faster hook client.

## How it was measured

Every figure stands beside what you would use instead, or beside the least that the machine can do.
Both are measured in one run, in turns, so that a busy neighbour burdens them alike; shown are
medians, of CPU time (user and system) unless a figure says that it is a time on the wall. The
ratio carries over to other machines, the two figures do not: they depend on the processor, on the
disk and on whoever else was busy.

A limit in `x` is on the ratio: a goal of the design, or what a later change must not go beyond. A
figure that misses it is listed below as it is. A limit in another unit is a goal for a machine
with nobody else on it.

What stands beside the hook client was written for this comparison, as small as its shape allows:
released tools of the same shape do more, and take longer. The cases are in `bench/`, a file for
each; `python -m bench NAME` runs one of them. `make bench-check` is the short form for continuous
integration: it fails where a ratio is over its limit or well over the one on this page, three
times in a row, and never for an absolute time.
"""
WHY: Final[Mapping[str, str]] = {
    "observed hook frame": (
        "the limit is that of a line in a stream; a frame is framed, adapted and answered by "
        "itself, and the start of the process that sent it costs a hundred times as much"
    ),
    "connection per event": (
        "a connection has a task of its own, its sender is looked up and its frame parsed, of "
        "which the C loop does nothing; the start of the process that sent it costs a hundred "
        "times as much"
    ),
    "typed event, 64": (
        "what is read is decoded in pieces of 16 KiB, and others have their turn after each "
        "millisecond, so that no stream holds up an approval; the raw loop has no such bounds"
    ),
    "dispatch, no handler": "it stands beside one call and one look-up, and is a method call more",
    "command hook that does nothing": (
        "its streams are pipes, its time is limited, and it is in a group of its own, to be ended "
        "with all that it started; a program that does anything at all takes longer than that"
    ),
    "approval round trip, p50, at": (
        "core, sender and an attached console that is told of every event share the processors "
        "of this machine"
    ),
    "History, newest": "a row is a call, which several records are put together for",
    "key to screen": "a key that comes during a repaint is seen after it",
    "the first `costs`": "it also loads the table of prices, which later ones keep",
}
"""Why a figure is over its limit, by how its name begins."""

TELLING: Final[Sequence[tuple[str, str]]] = (
    ("hook client, instructions", "an empty script in the same interpreter"),
    ("hook client, CPU", "a script with json and socket"),
    ("hook client, CPU", "a script that also starts `ps`"),
    ("native hook client, CPU", "a plain C client"),
    ("typed event, 1 connection, CPU", "raw epoll, recv and msgspec"),
    ("dispatch, no handler, CPU", "pluggy without a plugin"),
    ("stored record, CPU", "one line of JSON, written by itself"),
    ("search for a rare word, CPU", "a scan with LIKE"),
    ("console at 10,000 events/s, share of a processor", "at 200 events/s"),
    ("counting transcripts, CPU", "decoding the lines"),
)
"""The figures that the README shows: name, and what stands beside it."""


def document(report: Told) -> str:
    """The page: how it was measured, what misses its limit, and a table for each group."""
    figures = report["figures"]
    groups = list(dict.fromkeys(figure["group"] for figure in figures))
    parts = [HEAD, _taken(report["taken"]), _over(figures)]
    for group in groups:
        parts += [f"## {group}", _table([each for each in figures if each["group"] == group])]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def front(report: Told) -> str:
    """The README's table."""
    found = {(each["name"], _beside(each)): each for each in report["figures"]}
    rows = [
        (each["name"], _ours(each), f"{_beside(each)}: {_theirs(each)}", _ratio(each))
        for wanted in TELLING
        if (each := found.get(wanted))
    ]
    return as_table(("figure", "Watchgate", "beside", "ratio"), rows)


def _taken(taken: Told) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in taken["versions"].items())
    load = f"a load of {taken['load']:g} when the last of them was taken"
    return f"These are of {taken['date']}: {taken['machine']}, {load}; {versions}."


def _over(figures: Iterable[Told]) -> str:
    lines = [_missing(each) for each in figures if not each["ok"]]
    if not lines:
        return "## What misses its limit\n\nNothing did in this run."
    return "## What misses its limit\n\n" + "\n".join(lines)


def _missing(figure: Told) -> str:
    value = _ratio(figure) if figure["limit_unit"] == "x" else _ours(figure)
    why = next((why for start, why in WHY.items() if figure["name"].startswith(start)), "")
    reason = f": {why}" if why else ""
    against = f" (beside {_beside(figure)})" if figure["limit_unit"] == "x" else ""
    return f"- {figure['name']}{against}: {value}, limit {_limit(figure)}{reason}."


def _table(figures: Iterable[Told]) -> str:
    return as_table(("figure", "ours", "beside", "ratio", "limit", "", "how"), map(_row, figures))


def _row(figure: Told) -> tuple[str, ...]:
    beside = f"{_theirs(figure)}: {_beside(figure)}" if figure["beside"] else "-"
    stands = "" if figure["limit"] is None else "kept" if figure["ok"] else "**missed**"
    cells = figure["name"], _ours(figure), beside, _ratio(figure), _limit(figure)
    return *cells, stands, figure["note"]


def _ours(figure: Told) -> str:
    return f"{_short(figure['value'])} {figure['unit']}"


def _theirs(figure: Told) -> str:
    return f"{_short(figure['beside']['value'])} {figure['unit']}"


def _beside(figure: Told) -> str:
    return str(figure["beside"]["name"]) if figure["beside"] else ""


def _ratio(figure: Told) -> str:
    return "-" if figure["ratio"] is None else f"{_short(figure['ratio'])} x"


def _limit(figure: Told) -> str:
    limit = figure["limit"]
    return "-" if limit is None else f"{limit:,g} {figure['limit_unit']}"


def _short(value: float) -> str:
    """Two digits at least, and no more than can be measured beside others."""
    if abs(value) < 0.1:
        return f"{value:.2g}"
    return f"{value:,.{0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2}f}"


def main(check: bool) -> int:
    """Write the documents, or with `check` say whether they are what was measured."""
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    readme = replaced(README.read_text(encoding="utf-8"), "performance", TARGET, front(report))
    return written({DOCUMENT: document(report), README: readme}, TARGET, check=check)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))

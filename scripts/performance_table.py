"""Writes docs/performance.md and the README's few figures from what `make bench` measured.

`python -m scripts.performance_table [--check]`. Everything comes from `bench/report.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

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

Memory over time is no part of it: `make soak` puts an hour's load of 50 sessions on a core, as fast
as the core takes it, with one heap and with the bounds of what is kept lowered so that they are
reached. One run: 38,100 events in 196 s, 77.7 MiB of memory after a tenth of them, 87.3 MiB after
half and 93.8 MiB at the end, 23 descriptors from first to last. What calls of models have cost is
kept as long as a core runs, in less than 1 KiB for each, which is at most 2.9 MiB of the last
6.5; the rest is not attributed. With a leak of 500 bytes an event planted (`python -m bench.soak
--leak 500`) the second half took 18.5 MiB, and the soak fails. As a core runs by default, with
several heaps and its own bounds, the same hour went from 81 to 120 MiB before two of these bounds
were lowered; no such run was made since.
"""
WHY: Final[Mapping[str, str]] = {
    "observed hook frame": (
        "the limit is that of a line in a stream; a frame is parsed and adapted by itself, "
        "and the start of the Python client that sent it costs over a hundred times as much"
    ),
    "connection per event": (
        "a connection has a task of its own, its sender is looked up and its frame parsed, of "
        "which the C loop does nothing; the start of the process that sends it costs more, even "
        "of the native one"
    ),
    "typed event, 64": (
        "the start of 64 connections is in it: each has tasks of its own, and its sender is "
        "looked up, of which the raw loop does nothing"
    ),
    "dispatch, no handler": "it is a method, and the call beside it a function: two names more",
    "dispatch, 8 matchers on content": (
        "each looks into the call, as nothing can be known before; those on tools and agents are "
        "worked out once"
    ),
    "command hook that": (
        "its streams are pipes, its time is limited, and it is in a group of its own, to be ended "
        "with all that it started"
    ),
    "sealed": (
        "the digest of each record is hashed with the record before it, and it goes into a "
        "database; a line of JSON is only written"
    ),
    "console until its first screen": "its own screens are built and drawn, beside the library's",
    "`watchgate` until": "its own screens are built and drawn, beside the library's",
    "approval round trip, p50, at": (
        "core, sender and an attached console share the processors of this machine"
    ),
    "search for a rare word": (
        "a word is found by how it begins, in each of the parts of the index, which old records "
        "leave one by one"
    ),
    "History, newest": "a row is a call, which several records are put together for",
    "key to screen": "a key that comes during a repaint is seen after it",
    "the first `costs`": "it also loads the table of prices, which later ones keep",
}
"""Why a figure is over its limit, by how its name begins."""


class Telling(NamedTuple):
    """A figure of the README: its name and what stands beside it, and both in plain words."""

    name: str
    beside: str
    words: str
    beside_words: str


TELLING: Final = (
    Telling(
        "hook client, CPU",
        "an empty script in the same interpreter",
        "what a hook adds to a tool call: one short process",
        "a Python script that does nothing",
    ),
    Telling(
        "hook command by a shell, CPU",
        "a script with json and socket, by a shell",
        "the same as an agent runs it: by a shell, with its guard",
        "a hook script as one writes it first, with json and socket",
    ),
    Telling(
        "native hook client, CPU",
        "a plain C client",
        "that process, where it was built in C",
        "the least that a C program can do",
    ),
    Telling(
        "gate call handed back, CPU",
        "the same client at an echo written in C",
        "a call that nobody has to decide, hook and core together",
        "the same hook, answered by an echo",
    ),
    Telling(
        "approval round trip, p50, idle",
        "an echo in C and one fdatasync",
        "an approval that is given at once, from question to answer (on the wall)",
        "an echo and one write that reaches the disk",
    ),
    Telling(
        "sealed and stored record, CPU",
        "one line of JSON, written by itself",
        "a record in the journal, with its hash",
        "a line of JSON in a file, without one",
    ),
    Telling(
        "search for a rare word, CPU",
        "a scan with LIKE",
        "finding a rare word in the journal",
        "reading every record for it",
    ),
    Telling(
        "console at 10,000 events/s, share of a processor",
        "at 200 events/s",
        "the console while 10,000 events a second come, part of a processor",
        "while 200 a second come",
    ),
    Telling(
        "`watchgate` until it shows a running core, CPU",
        "a process that imports textual.app",
        "`watchgate` until you see something",
        "loading the library that it draws with, and nothing else",
    ),
    Telling(
        "counting transcripts, CPU",
        "decoding the lines",
        "adding up tokens and money from transcripts",
        "only reading their lines",
    ),
)
"""The figures that the README shows, in the words of somebody who has read nothing else."""


def document(report: Told) -> str:
    """The page: how it was measured, what misses its limit, and a table for each group."""
    figures = report["figures"]
    groups = list(dict.fromkeys(figure["group"] for figure in figures))
    parts = [HEAD, _taken(report["taken"]), _over(figures), _left_out(report)]
    for group in groups:
        parts += [f"## {group}", _table([each for each in figures if each["group"] == group])]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def front(report: Told) -> str:
    """The README's table."""
    found = {(each["name"], _beside(each)): each for each in report["figures"]}
    rows = [
        (wanted.words, _ours(each), f"{wanted.beside_words}: {_theirs(each)}", _ratio(each))
        for wanted in TELLING
        if (each := found.get((wanted.name, wanted.beside)))
    ]
    return as_table(("processor time, unless it says else", "Watchgate", "beside", "ratio"), rows)


def _taken(taken: Told) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in taken["versions"].items())
    load = f"a load of {taken['load']:g} when the last of them was taken"
    return f"These are of {taken['date']}: {taken['machine']}, {load}; {versions}."


def _over(figures: Iterable[Told]) -> str:
    lines = [_missing(each) for each in figures if not each["ok"]]
    if not lines:
        return "## What misses its limit\n\nNothing did in this run."
    return "## What misses its limit\n\n" + "\n".join(lines)


def _left_out(report: Told) -> str:
    lines = [f"- {each['name']}: {each['why']}." for each in report.get("left_out", ())]
    return "## What was not measured\n\n" + "\n".join(lines) if lines else ""


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
    """Writes the documents, or with `check` say whether they are what was measured."""
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    readme = replaced(README.read_text(encoding="utf-8"), "performance", TARGET, front(report))
    return written({DOCUMENT: document(report), README: readme}, TARGET, check=check)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))

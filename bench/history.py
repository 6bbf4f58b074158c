"""Recorded history of a million records: what a search takes, and what its index costs.

The times are told as they are and beside a scan of the same records, which is what a search without
an index does.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from bench.figures import Beside, Figure, interleaved_medians, report
from watchgate.core.chain.hash_chain import START, Chain, JournalRow
from watchgate.core.filters.filter_parser import parse
from watchgate.core.model.records import Draft, Record
from watchgate.core.secrets.redact import journal_json
from watchgate.service.history import call_pages, record_pages, recorded_sessions
from watchgate.service.host.restore_state import restored_state
from watchgate.service.journal import journal_reader
from watchgate.service.journal.journal_disk import insert_rows
from watchgate.service.journal.schema import open_to_read, open_to_write
from watchgate.service.search.indexer import Upkeep

RECORDS, RUNS, NEWEST, BATCH = 1_000_000, 7, 50, 2_000
LIMIT_MS, OPEN_LIMIT_S, INDEX_LIMIT, LIKE_LIMIT = 10.0, 1.0, 7.0, 0.01
"""Of the 11 times a plain line that store and index may cost together, the store has 4."""

STEP_US = 50_000
START_US = 1_795_132_800_000_000
SESSIONS = 400
COMMANDS = ("git push origin", "git status", "ls -la", "pytest -q", "npm run build", "sed -n 1,80p")
SESSION = "{:08x}-7f3a-4c1e-9d52-000000000000"
SEARCHES = {
    "a common word": "push",
    "a rare word": "zyxwvut",
    "two words": "git w77",
    "one session": f"session:{SESSION.format(7)}",
    "a decision": "state:denied",
    "a kind": "kind:tool.post",
}


def drafts() -> Iterator[Draft]:
    """Calls of many sessions, four records each; one in twenty is denied, few have a rare word."""
    dice = random.Random(7)
    for number in itertools.count():
        at, call = START_US + 4 * number * STEP_US, f"toolu_{number:024d}"
        session = SESSION.format(dice.randrange(SESSIONS))
        summary = f"{dice.choice(COMMANDS)} w{dice.randrange(5_000)} w{dice.randrange(5_000)}.py"
        if number % 50_000 == 7:
            summary += " zyxwvut"
        tool = {
            "name": "Bash",
            "cls": "shell",
            "input": {"command": summary},
            "input_hash": "0" * 64,
        }
        gate = "denied" if number % 20 == 0 else "handback"
        asked = {"native": "PreToolUse", "lane": "gate", "tool": tool, "summary": summary,
                 "gate": gate, "risk": "low", "cwd": "/src/api-fix"}  # fmt: skip
        trace = {"kind": "tool.pre", "native": "PreToolUse", "preset": "claude", "effect": "gate",
                 "took_ms": 2.0, "tool": "Bash", "summary": summary, "rows": []}  # fmt: skip
        ended = {"native": "PostToolUse", "ok": True, "took_ms": 120, "result_chars": 300}
        said = {"native": "Message", "text_chars": 400}
        of_call = (("tool.pre", asked), ("hook.trace", trace), ("tool.post", ended))
        for kind, data in of_call:
            yield Draft(kind=kind, at=at, data=data, agent="claude", session=session, call=call)
        yield Draft(kind="message", at=at, data=said, agent="claude", session=session)


def write(journal: Path, count: int) -> None:
    """A journal of so many records, the way a core leaves it."""
    chain = Chain("bench", START, lambda data: journal_json(data, "commands"))
    feed = drafts()
    with closing(open_to_write(journal)) as connection:
        for _ in range(0, count, BATCH):
            rows: list[JournalRow] = [chain.seal(each)[1] for each in itertools.islice(feed, BATCH)]
            insert_rows(connection, rows)


def index_us(journal: Path, count: int) -> float:
    """CPU microseconds per record of making the index."""
    upkeep = Upkeep(journal)
    start_s = time.process_time()
    fault = upkeep.round(lambda: False)
    took_s = time.process_time() - start_s
    upkeep.close()
    assert not fault, fault
    return took_s / count * 1e6


def line_us(records: list[Record], path: Path) -> float:
    """CPU microseconds per record of one written line each."""
    encode = msgspec.json.Encoder().encode
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    start_s = time.process_time()
    for record in records:
        os.write(file, encode(record) + b"\n")
    took_s = time.process_time() - start_s
    os.close(file)
    return took_s / len(records) * 1e6


def timed(do: Callable[[], Any]) -> Callable[[], float]:
    """A case: the CPU milliseconds of one go."""

    def case() -> float:
        start_s = time.process_time()
        do()
        return (time.process_time() - start_s) * 1e3

    return case


def figures(count: int, runs: int) -> Iterator[Figure]:
    """What the index costs, searches of records and of calls, one session, and the start."""
    told = f"{count:,} records, CPU, medians of {runs}"
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        journal = Path(directory) / "journal.db"
        write(journal, count)
        line = line_us(list(journal_reader.read(journal, 1, 20_000)), Path(directory) / "lines")
        made = index_us(journal, count)
        size = journal.with_name("journal.index.db").stat().st_size / count
        beside = Beside("one line of JSON, written by itself", line)
        note = f"{size:.0f} bytes each; {told}"
        yield Figure("indexed record, CPU", made, "us", beside, INDEX_LIMIT, note)
        wanted = {name: parse(text) for name, text in SEARCHES.items()}
        of_records = [
            partial(record_pages.search, journal, each, NEWEST) for each in wanted.values()
        ]
        of_calls = [
            partial(call_pages.calls, journal, each, limit=NEWEST) for each in wanted.values()
        ]
        work: list[Callable[[], Any]] = [
            partial(like, journal),
            partial(recorded_sessions.all_sessions, journal),
            *of_records,
            *of_calls,
        ]
        like_ms, all_ms, *searched = interleaved_medians(list(map(timed, work)), runs)
        scan = Beside("a scan with LIKE", like_ms)
        for at, (name, text) in enumerate(SEARCHES.items()):
            took = searched[at]
            if name == "a rare word":
                limit = LIKE_LIMIT if count >= RECORDS else None  # a scan of few is short
                yield Figure(f"search for {name}, CPU", took, "ms", scan, limit, told)
            newest = f"newest {NEWEST} of {name}, CPU"
            yield Figure(f"search, {newest}", took, "ms", scan, LIMIT_MS, told, absolute=True)
            if "kind" not in text:
                took = searched[len(SEARCHES) + at]
                yield Figure(f"History, {newest}", took, "ms", scan, LIMIT_MS, told, absolute=True)
        yield Figure("all sessions, CPU", all_ms, "ms", note=told)
        now_us = START_US + count * STEP_US
        start = timed(lambda: restored_state(journal, now_us, print))
        took = statistics.median(start() for _ in range(3)) / 1e3
        yield Figure("what a core knows when it starts, CPU", took, "s", None, OPEN_LIMIT_S, told)


def like(journal: Path) -> None:
    """What a search without an index does: the newest records whose data has a rare word."""
    with closing(open_to_read(journal)) as connection:
        query = "SELECT seq FROM record WHERE data LIKE '%zyxwvut%' ORDER BY seq DESC LIMIT 50"
        assert connection.execute(query).fetchall()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--records", type=int, default=RECORDS)
    given = parser.parse_args()
    return report(figures(given.records, given.runs))


if __name__ == "__main__":
    sys.exit(main())

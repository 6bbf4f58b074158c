"""What the journal costs: a record on its way to the disk, a journal that is long, and its end."""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec

from bench.figures import Beside, Figure, interleaved_medians, report
from bench.payloads import hook_events
from watchgate.core.chain.chain_walk import RetentionLimits
from watchgate.core.chain.hash_chain import START, Chain
from watchgate.core.model.events import Tool
from watchgate.core.model.records import CallData, CoreData, Draft, NoteData, Record, ResultData
from watchgate.core.secrets.redact import journal_json
from watchgate.service.journal import journal_reader
from watchgate.service.journal.journal_disk import (
    BATCH_ROWS,
    HeadFile,
    head_path,
    insert_rows,
    newest_head,
)
from watchgate.service.journal.journal_retention import Retention
from watchgate.service.journal.schema import open_to_write
from watchgate.service.journal.writer import Journal
from watchgate.service.search.indexer import Upkeep
from watchgate.service.system.system_clock import SystemClock

RECORDS = 9_216
ALONE = 1_024
"""Records that are committed one by one: each takes as long as many in a batch."""

STORED_LIMIT, ALONE_LIMIT, INDEXED_LIMIT = 4.0, 0.25, 11.0
OPEN_LIMIT_MS = 1_000.0
WAIT_LIMIT = 3.0
LEAVING = 60_000
INGEST_S, RATE_PER_S, COMMITS_PER_S = 2, 5_000, 100


def drafts() -> Iterator[Draft]:
    """What a core records of a stream of hook events, without end."""
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    for at, (native, payload) in enumerate(hook_events(), 1):
        said = decode(payload)
        draft = Draft(kind="prompt.submit", at=at, data=_data(native, said), agent="claude")
        kind = {"PreToolUse": "tool.pre", "PostToolUse": "tool.post"}.get(native, draft.kind)
        yield msgspec.structs.replace(
            draft, kind=kind, session=said["session_id"], call=said.get("tool_use_id")
        )


def _data(native: str, said: dict[str, Any]) -> CallData | NoteData | ResultData:
    if "tool_name" not in said:
        return NoteData(native=native, text=said["prompt"], cwd=said["cwd"])
    name, call_id = said["tool_name"], said["tool_use_id"]
    tool = Tool(name, name, "shell", said["tool_input"], input_hash="0" * 64, call_id=call_id)
    summary = str(next(iter(tool.input.values())))
    if "tool_response" in said:
        result = msgspec.json.encode(said["tool_response"]).decode()
        return ResultData(native=native, tool=tool, summary=summary, ok=True, result=result)
    return CallData(
        native=native, lane="observe", tool=tool, summary=summary, gate="recorded", cwd=said["cwd"]
    )


def chain() -> Chain:
    return Chain("bench", START, lambda data: journal_json(data, "commands"))


def plain_us(records: list[Record]) -> float:
    """CPU of the least that keeps a record: encoded, a line in a file, one write each."""
    encode = msgspec.json.Encoder().encode
    with tempfile.TemporaryDirectory(prefix="wg-") as place:
        file = os.open(Path(place) / "records.jsonl", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        began_s = time.process_time()
        for record in records:
            os.write(file, encode(record) + b"\n")
        taken_s = time.process_time() - began_s
        os.close(file)
    return taken_s / len(records) * 1e6


def sealed_us() -> float:
    """CPU of sealing: the view that the journal keeps, its digest, the hash."""
    given = list(itertools.islice(drafts(), RECORDS))
    seal = chain().seal
    began_s = time.process_time()
    for draft in given:
        seal(draft)
    return (time.process_time() - began_s) / RECORDS * 1e6


def stored_us(given: list[Draft], *, indexed: bool, batch: int = BATCH_ROWS) -> float:
    """CPU of all threads from a draft to the disk, sealed, and then into the index of words."""
    with tempfile.TemporaryDirectory(prefix="wg-") as place:
        path = Path(place) / "journal.db"
        journal = Journal.open(path)
        seal = chain().seal
        began_s = time.process_time()
        for at in range(0, len(given), batch):
            for draft in given[at : at + batch]:
                journal.append(seal(draft)[1])
            _written(journal)
        if indexed:
            upkeep = Upkeep(path)
            fault = upkeep.round(lambda: False)
            assert not fault, fault
            upkeep.close()
        taken_s = time.process_time() - began_s
        assert (journal.close(), journal.dropped) == (0, 0)
    return taken_s / len(given) * 1e6


def _written(journal: Journal) -> None:
    done = threading.Event()
    journal.commit(lambda _ok: done.set())
    done.wait()


def build(path: Path, count: int) -> None:
    """A journal of so many records of long ago, as a core left it."""
    made = drafts()
    seal = chain().seal
    with closing(open_to_write(path)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        for at in range(0, count, BATCH_ROWS):
            few = itertools.islice(made, min(BATCH_ROWS, count - at))
            insert_rows(connection, [seal(draft)[1] for draft in few])
    head = HeadFile(head_path(path))
    with closing(open_to_write(path)) as connection:
        head.write(newest_head(connection), durable=True)
    head.close()


def open_ms(path: Path) -> float:
    """How long it takes to open a journal."""
    began_s = time.perf_counter()
    journal = Journal.open(path)
    taken_s = time.perf_counter() - began_s
    assert journal.fault is None
    journal.close()
    return taken_s * 1e3


def longest_wait_ms(old: Path, *, leaving: bool) -> float:
    """The longest that a commit waits while records come in, and old ones leave or do not."""
    with tempfile.TemporaryDirectory(prefix="wg-") as place:
        shutil.copytree(old.parent, place, dirs_exist_ok=True)
        path = Path(place) / old.name
        waits: list[float] = anyio.run(_ingested, path, leaving)
        gone = journal_reader.ends(path)[0] - 1
    assert bool(gone) == leaving, f"{gone} records left"
    return max(waits) * 1e3


async def _ingested(path: Path, leaving: bool) -> list[float]:
    journal = Journal.open(path)
    recorder = _Recorder(journal)
    waits: list[float] = []

    def committed(began_s: float, ok: bool) -> None:
        assert ok
        waits.append(time.perf_counter() - began_s)

    made = drafts()
    async with anyio.create_task_group() as tasks:
        if leaving:
            limits = RetentionLimits(max_age_days=1, max_size_mb=2048)
            tasks.start_soon(Retention(journal, recorder, limits, recorder.clock).run)
        for _ in range(INGEST_S * COMMITS_PER_S):
            began_s = time.perf_counter()
            for draft in itertools.islice(made, RATE_PER_S // COMMITS_PER_S):
                recorder.record(draft)
            journal.commit(partial(committed, time.perf_counter()))
            await anyio.sleep(max(0.0, 1 / COMMITS_PER_S - (time.perf_counter() - began_s)))
        tasks.cancel_scope.cancel()
    assert journal.close() == 0
    return waits


class _Recorder:
    def __init__(self, journal: Journal) -> None:
        self.clock = SystemClock()
        self._journal = journal
        self._chain = Chain("bench", journal.head, lambda data: journal_json(data, "commands"))

    def record(self, draft: Draft) -> None:
        now = msgspec.structs.replace(draft, at=self.clock.now().wall_us)
        self._journal.append(self._chain.seal(now)[1])

    def about_core(self, kind: str, data: CoreData) -> None:
        raise AssertionError(f"{kind}: {data.detail}")


def _of_one_record(runs: int) -> Iterator[Figure]:
    given = list(itertools.islice(drafts(), RECORDS))
    seal_one = chain().seal
    records = [seal_one(draft)[0] for draft in given]
    cases = [
        lambda: plain_us(records),
        lambda: stored_us(given, indexed=False),
        lambda: stored_us(given, indexed=True),
        lambda: stored_us(given[:ALONE], indexed=False, batch=1),
        sealed_us,
    ]
    plain, stored, indexed, alone, seal = interleaved_medians(cases, runs)
    told = f"sealed, in batches of {BATCH_ROWS}; {RECORDS:,} records, medians of {runs}"
    line = Beside("one line of JSON, written by itself", plain)
    yield Figure("sealed and stored record, CPU", stored, "us", line, STORED_LIMIT, told)
    beside = Beside("the same with a commit for each", alone)
    yield Figure("sealed and stored record, CPU", stored, "us", beside, ALONE_LIMIT, told)
    yield Figure("sealed, stored and indexed record, CPU", indexed, "us", line, INDEXED_LIMIT, told)
    note = "view, digest and hash: the part of it that a line of JSON has not"
    yield Figure("sealed record, CPU", seal, "us", line, None, note)


def _of_retention(runs: int) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="wg-") as place:
        old = Path(place) / "journal.db"
        build(old, LEAVING)
        cases = [
            lambda: longest_wait_ms(old, leaving=True),
            lambda: longest_wait_ms(old, leaving=False),
        ]
        busy, calm = interleaved_medians(cases, runs)
    told = f"{RATE_PER_S:,} records/s come in, {LEAVING:,} leave; medians of {runs}"
    calm_one = Beside("the same while none leaves", calm)
    yield Figure("longest commit during retention", busy, "ms", calm_one, WAIT_LIMIT, told)


def _of_a_long_journal(records: int, runs: int) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="wg-") as place:
        path = Path(place) / "journal.db"
        build(path, records)
        size_mb = path.stat().st_size / 2**20
        (opened,) = interleaved_medians([lambda: open_ms(path)], runs)
    told = f"{records:,} records, {size_mb:.0f} MiB"
    yield Figure("opening a long journal", opened, "ms", None, OPEN_LIMIT_MS, told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument(
        "--records", type=int, default=1_000_000, help="of the long journal; 0: none"
    )
    given = parser.parse_args()
    if not given.records:
        return report(_of_one_record(given.runs))
    return report(
        itertools.chain(
            _of_one_record(given.runs),
            _of_retention(given.runs),
            _of_a_long_journal(given.records, given.runs),
        )
    )


if __name__ == "__main__":
    sys.exit(main())

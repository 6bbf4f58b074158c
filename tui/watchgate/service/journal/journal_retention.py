"""Retention of the journal: the oldest records leave while it is written."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import chain as joined
from pathlib import Path
from typing import Protocol, TypeVar

import anyio
from anyio import to_thread

from watchgate.core.base.clock import Clock
from watchgate.core.chain import hash_chain
from watchgate.core.chain.chain_walk import RecordSize, RetentionCut, RetentionLimits, before, cut
from watchgate.core.chain.hash_chain import Problem
from watchgate.core.model.records import CoreData, Draft
from watchgate.service.journal import journal_reader
from watchgate.service.journal.schema import JournalError, open_to_read, reason

LOOK_EACH_S = 30.0
# What a record takes beside its data: hashes, names, its place in a page.
_ROW_BYTES = 400
_OLDEST = (
    "SELECT seq, at, hash, length(CAST(data AS BLOB)) FROM record"
    " WHERE seq < (SELECT max(seq) FROM record) ORDER BY seq"
)

T = TypeVar("T")


class RetentionJournal(Protocol):
    """The journal, as far as retention needs it; callbacks come from any thread."""

    @property
    def path(self) -> Path:
        """The database."""
        ...

    @property
    def lost(self) -> str:
        """The reason why nothing can be written now; empty while all is well."""
        ...

    def commit(self, callback: Callable[[bool], object]) -> None:
        """Calls back with whether everything recorded so far is on disk."""
        ...

    def remove(self, ends: Sequence[int], callback: Callable[[str], None]) -> None:
        """Deletes the rows up to the last of `ends`; calls back with the fault, if any."""
        ...


class RetentionRecorder(Protocol):
    """The recorder, as far as retention needs it."""

    def record(self, draft: Draft) -> None:
        """Records one draft."""
        ...

    def about_core(self, kind: str, data: CoreData) -> None:
        """Records something about the core itself."""
        ...


class Retention:
    """Keeps a journal within its limits, whatever is written to it meanwhile."""

    def __init__(
        self,
        journal: RetentionJournal,
        recorder: RetentionRecorder,
        limits: RetentionLimits,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._recorder = recorder
        self._limits = limits
        self._clock = clock
        self._leaving: RetentionCut | None = None

    async def run(self) -> None:
        """Applies the limits every 30 s; records once that it cannot."""
        reported = ""
        while True:
            fault = ""
            try:
                while await self.once():
                    pass
            except JournalError as error:
                fault = str(error)
            if fault and fault != reported:
                data = CoreData(what="old records cannot leave the journal", detail=fault)
                self._recorder.about_core("policy.fault", data)
            reported = fault
            await anyio.sleep(LOOK_EACH_S)

    async def once(self) -> bool:
        """Removes the records that one checkpoint covers; returns whether any left.

        Nothing is deleted before the checkpoint is on the disk. Raises `JournalError`.
        """
        if self._journal.lost:
            return False
        if self._leaving is None:
            self._leaving = await self._covered()
        if self._leaving is None:
            return False
        ends = self._leaving.ends
        failure: str = await called_back(lambda done: self._journal.remove(ends, done))
        if failure:
            raise JournalError(self._journal.path, failure)
        self._leaving = None
        return True

    async def _covered(self) -> RetentionCut | None:
        """Returns the part to delete now: the checkpoint that lets it go is on disk."""
        now_us = self._clock.now().wall_us
        cut_off = await to_thread.run_sync(due_cut, self._journal.path, self._limits, now_us)
        if cut_off is None:
            return None
        self._recorder.record(Draft(kind="policy.checkpoint", at=now_us, data=cut_off.checkpoint))
        return cut_off if await called_back(self._journal.commit) else None


def due_cut(path: Path, limits: RetentionLimits, now_us: int) -> RetentionCut | None:
    """Returns the part of the journal that has to leave now, if any; raises `JournalError`.

    Only unchanged records may leave: whoever changes a record, were it but its time, must not have
    a checkpoint say that all is well.
    """
    with closing(open_to_read(path)) as connection:
        try:
            connection.execute("BEGIN")
            pages, free, page_bytes = (
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
            cut_off = cut(_oldest(connection), (pages - free) * page_bytes, limits, now_us)
            if cut_off and (problem := _problem(path, connection, cut_off.checkpoint.removed_to)):
                why = f"is not what was written: {problem.message}; move it away as evidence"
                raise JournalError(path, why)
            return cut_off
        except sqlite3.Error as error:
            raise JournalError(path, reason(error)) from error


def _problem(path: Path, connection: sqlite3.Connection, removed_to: int) -> Problem | None:
    """Returns the first fault of the records up to one, and of the next, which must follow it."""
    clause = "WHERE seq <= (SELECT min(seq) FROM record WHERE seq > ?) ORDER BY seq"
    rows = journal_reader.rows(path, connection, clause, removed_to)
    first = next(rows, None)
    leaving = () if first is None else joined((first,), rows)
    return hash_chain.verify(leaving, after=before(first)).problem


def _oldest(connection: sqlite3.Connection) -> Iterator[RecordSize]:
    for seq, at, own, size_bytes in connection.execute(_OLDEST):
        if not (isinstance(seq, int) and isinstance(at, int) and isinstance(own, str)):
            raise sqlite3.DatabaseError("it holds a record without a number, time or hash")
        yield RecordSize(seq, at, own, _ROW_BYTES + (size_bytes or 0))


async def called_back(ask: Callable[[Callable[[T], None]], None]) -> T:
    """Returns the answer of the journal's thread to the callback that `ask` hands over."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[T] = loop.create_future()

    def settle(answer: T) -> None:
        if not answered.done():
            answered.set_result(answer)

    def on_answer(answer: T) -> None:
        loop.call_soon_threadsafe(settle, answer)

    ask(on_answer)
    return await answered

"""Recorded sessions, and the records of one: by the index, then by reading on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from watchgate.core.records import Record
from watchgate.service.journal import reading
from watchgate.service.journal.reading import Held
from watchgate.service.journal.schema import JournalError, open_to_read, reason
from watchgate.service.search.facets import token
from watchgate.service.search.filling import Seen, after, sessions_in
from watchgate.service.search.finding import discard_if_damaged, index_of


def all_of(journal: Path) -> list[Seen]:
    """Returns every recorded session, the latest first; raises `JournalError`."""
    known: list[Seen] = []
    upto = 0
    try:
        with index_of(journal) as index:
            if index is not None:
                known, upto = index.sessions(), index.upto
    except sqlite3.Error as error:
        discard_if_damaged(journal, error)
    sessions = {(each.agent, each.session): each for each in known}
    for each in _not_indexed(journal, upto):
        before = sessions.get((each.agent, each.session))
        sessions[each.agent, each.session] = each if before is None else _joined(before, each)
    return sorted(sessions.values(), key=lambda each: -each.last_seq)


def records_of(journal: Path | Held, agent: str, session: str) -> Iterator[Record]:
    """Yields the records of a session, oldest first; raises `JournalError`."""
    numbers, upto = _indexed(journal.path if isinstance(journal, Held) else journal, session)
    for _, record in reading.numbered(journal, numbers):
        if (record.agent, record.session) == (agent, session):
            yield record
    _, newest = reading.ends(journal)
    for record in reading.read(journal, upto + 1, newest):
        if (record.agent, record.session) == (agent, session):
            yield record


def _indexed(journal: Path, session: str) -> tuple[list[int], int]:
    """Returns the records that may be of a session, oldest first, and the last one indexed."""
    try:
        with index_of(journal) as index:
            if index is None:
                return [], 0
            condition = f'"{token("session", session)}"'
            return [*index.numbers(condition, 1, index.upto)][::-1], index.upto
    except sqlite3.Error as error:
        discard_if_damaged(journal, error)
        return [], 0


def _not_indexed(journal: Path, upto: int) -> Iterator[Seen]:
    with closing(open_to_read(journal)) as records:
        try:
            while batch := after(records, upto):
                yield from sessions_in(batch)
                upto = batch[-1].seq
        except sqlite3.Error as error:
            raise JournalError(journal, reason(error)) from error


def _joined(before: Seen, now: Seen) -> Seen:
    return msgspec.structs.replace(
        before,
        folder=before.folder or now.folder,
        last_seq=now.last_seq,
        last_at=max(before.last_at, now.last_at),
    )

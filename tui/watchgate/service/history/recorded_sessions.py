"""Recorded sessions by the word that a person has for them, and their records."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from watchgate.core.base.text import safe_text
from watchgate.core.model.records import Record
from watchgate.service.journal import journal_reader
from watchgate.service.journal.journal_reader import OpenJournal
from watchgate.service.journal.schema import JournalError, open_to_read, reason
from watchgate.service.search.index_file import IndexedSession, records_after, sessions_in
from watchgate.service.search.index_query import discard_if_damaged, index_of
from watchgate.service.search.index_terms import index_token

MIN_PREFIX = 4
_NAMED = 5
"""So many of several candidates, the newest, an error names."""


def all_sessions(journal: Path) -> list[IndexedSession]:
    """Returns every recorded session, the latest first; raises `JournalError`."""
    known: list[IndexedSession] = []
    upto = 0
    try:
        with index_of(journal) as index:
            if index is not None:
                known, upto = index.sessions(), index.upto
    except sqlite3.Error as error:
        discard_if_damaged(journal, error)
    sessions = {(each.agent, each.session): each for each in known}
    for now in _not_indexed(journal, upto):
        each = sessions.setdefault((now.agent, now.session), now)
        each.folder = each.folder or now.folder
        each.last_seq, each.last_at = now.last_seq, max(each.last_at, now.last_at)
    return sorted(sessions.values(), key=lambda each: -each.last_seq)


def records_of(journal: Path | OpenJournal, agent: str, session: str) -> list[Record]:
    """Returns the records of a session, oldest first; raises `JournalError`."""
    numbers, upto = _indexed(journal.path if isinstance(journal, OpenJournal) else journal, session)
    indexed = [record for _, record in journal_reader.numbered(journal, numbers)]
    _, newest = journal_reader.ends(journal)
    read = chain(indexed, journal_reader.read(journal, upto + 1, newest))
    return [each for each in read if (each.agent, each.session) == (agent, session)]


def _indexed(journal: Path, session: str) -> tuple[list[int], int]:
    """Returns the records that may be of a session, oldest first, and the last one indexed."""
    try:
        with index_of(journal) as index:
            if index is not None:
                condition = f'"{index_token("session", session)}"'
                return [*index.numbers(condition, 1, index.upto)][::-1], index.upto
    except sqlite3.Error as error:
        discard_if_damaged(journal, error)
    return [], 0


def _not_indexed(journal: Path, upto: int) -> Iterator[IndexedSession]:
    with closing(open_to_read(journal)) as records:
        try:
            while batch := records_after(records, upto):
                yield from sessions_in(batch)
                upto = batch[-1].seq
        except sqlite3.Error as error:
            raise JournalError(journal, reason(error)) from error


class PastError(ValueError):
    """A word means no session, or more than one; the message says what to write."""


class SeveralError(PastError):
    """A word means more than one session."""


def find_session(journal: Path, word: str | None) -> tuple[str, str]:
    """Returns agent and id of the session that a word means; without a word the newest one.

    A word is a whole id, `AGENT:ID`, four or more characters that one id alone begins with, or the
    session's name on screen. Raises `PastError`, and `JournalError` like `journal.reading`.
    """
    known = all_sessions(journal)
    if not known:
        raise PastError("no session was recorded yet")
    matches = known[:1] if word is None else _meant(known, word)
    if not matches:
        raise PastError(
            f"no recorded session is {safe_text(word or '')[:60]!r}: give its id, {MIN_PREFIX} "
            "characters or more of it, AGENT:ID, or its name on screen"
        )
    if len(matches) > 1:
        raise SeveralError(_several(word or "", matches))
    return matches[0].agent, matches[0].session


def _meant(known: Sequence[IndexedSession], word: str) -> list[IndexedSession]:
    """Returns the sessions that a word may mean, by the surest way that leads to any."""
    agent, _, id = word.partition(":")
    # Earlier releases counted the sessions of a folder: by such a number all of them are meant.
    base, _, beginning = word.rpartition("~")
    ways = (
        [each for each in known if each.session == word],
        [each for each in known if (each.agent, each.session) == (agent, id)],
        _begun(known, word),
        _begun([each for each in known if each.agent == agent], id),
        [each for each in known if base and _is_called(each, base, beginning)],
        [each for each in known if each.folder == (base if beginning.isdecimal() else word)],
    )
    return next(filter(None, ways), [])


def _is_called(each: IndexedSession, folder: str, beginning: str) -> bool:
    """Returns whether a session goes by the name of its folder and the beginning of its id."""
    id = "".join(char for char in each.session if char.isalnum())
    return each.folder == folder and beginning != "" and id.startswith(beginning)


def _begun(known: Sequence[IndexedSession], prefix: str) -> list[IndexedSession]:
    return [each for each in known if len(prefix) >= MIN_PREFIX and each.session.startswith(prefix)]


def _several(word: str, newest: Sequence[IndexedSession]) -> str:
    named = "; ".join(
        f"{safe_text(each.agent)}:{safe_text(each.session)} (began {_local_time(each.first_at)})"
        for each in newest[:_NAMED]
    )
    more = f"; and {len(newest) - _NAMED} older" if len(newest) > _NAMED else ""
    return f"{safe_text(word)[:60]!r} may be any of {len(newest)} sessions: {named}{more}"


def _local_time(at_us: int) -> str:
    return f"{datetime.fromtimestamp(at_us / 1_000_000, UTC).astimezone():%Y-%m-%d %H:%M}"

"""Purge of a session: its payloads leave the journal and the files around it, the digests stay."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from watchgate.core.chain.chain_walk import PURGE_KIND
from watchgate.core.chain.hash_chain import Chain
from watchgate.core.model.actor import Actor
from watchgate.core.model.records import Draft, PurgedData
from watchgate.core.secrets.redact import Content, journal_json
from watchgate.link.paths import Paths
from watchgate.service.journal import journal_disk
from watchgate.service.journal.journal_disk import JournalDisk
from watchgate.service.journal.schema import JournalError, open_to_read, open_to_write, reason
from watchgate.service.search.index_file import remove_index
from watchgate.service.system.runtime_dir import RuntimeDir

NO_CORE = "no-core"
"""Stands for the core in a record that was written while none ran."""

_OF_SESSION = """SELECT seq, data IS NOT NULL FROM record
WHERE agent = ? AND session = ? ORDER BY seq"""


class SessionHolding(msgspec.Struct, frozen=True):
    """The journal's records of a session: `seqs` are those that still have their data.

    `known` says whether there is any record of it at all.
    """

    agent: str
    session: str
    seqs: tuple[int, ...]
    known: bool

    def draft(self, by: str, at: int, actor: Actor | None = None) -> Draft:
        """Returns the record of the purge; there must be records to drop."""
        data = PurgedData(
            agent=self.agent,
            session=self.session,
            count=len(self.seqs),
            upto=self.seqs[-1],
            by=by,
            actor=actor,
        )
        return Draft(kind=PURGE_KIND, at=at, data=data)


def session_holding(path: Path, agent: str, session: str) -> SessionHolding:
    """Returns the records that a purge of the session would drop; raises `JournalError`."""
    with closing(open_to_read(path)) as connection:
        try:
            rows = connection.execute(_OF_SESSION, (agent, session)).fetchall()
        except sqlite3.Error as error:
            raise JournalError(path, reason(error)) from error
    seqs = tuple(seq for seq, whole in rows if whole)
    return SessionHolding(agent, session, seqs, bool(rows))


def empty_log(path: Path) -> bool:
    """Moves SQLite's log into the database and empties it: it still holds dropped data.

    Only where no core runs: to one this is a foreign write, and its own writer does it. False while
    somebody reads the journal; never waits. Raises `JournalError`.
    """
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
            return journal_disk.truncate_log(connection)
    except sqlite3.Error as error:
        raise JournalError(path, reason(error)) from error


def purge_alone(
    paths: Paths, agent: str, session: str, *, by: str, at: int, content: Content
) -> tuple[SessionHolding, bool]:
    """Purges a session while no core runs, and keeps one from starting meanwhile.

    Returns what was dropped, and whether SQLite's log is empty of it. Raises `RuntimeDirError`
    where a core runs, `JournalError` for a journal that cannot be written or is not what was
    written (the next core records that first), `OSError` where the search index stays.

    Args:
        paths: The core's files and directories.
        agent: The session's agent.
        session: The session's id.
        by: Who purges, for the record.
        at: The time in UTC µs.
        content: How much of inputs the journal keeps.
    """
    with RuntimeDir(paths):
        holding = session_holding(paths.journal, agent, session)
        if holding.seqs:
            with closing(open_to_write(paths.journal)) as connection:
                try:
                    _drop(paths.journal, connection, holding, holding.draft(by, at), content)
                except (OSError, sqlite3.Error) as error:
                    raise JournalError(paths.journal, reason(error)) from error
        if holding.known:
            remove_index(paths.journal)
        return holding, empty_log(paths.journal)


def _drop(
    path: Path,
    connection: sqlite3.Connection,
    holding: SessionHolding,
    draft: Draft,
    content: Content,
) -> None:
    """Writes the record of a purge, and drops the data with it.

    Args:
        path: The journal's database.
        connection: The open database.
        holding: The session's records.
        draft: The record of the purge.
        content: How much of inputs the journal keeps.
    """
    disk = JournalDisk(path, connection)
    try:
        if disk.fault:
            why = f"is not what was written ({disk.fault}): start a core, which records that"
            raise JournalError(path, why)
        chain = Chain(NO_CORE, disk.written, lambda data: journal_json(data, content))
        _, row = chain.seal(draft)
        disk.insert([row], holding.seqs)
        disk.write_head(durable=True)
    finally:
        disk.close()

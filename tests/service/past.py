"""A journal with a past, made row by row: sessions, purges, records that were let go."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from tests.service.scribe import whole
from watchgate.core.chain.hash_chain import START, Chain, Head, JournalRow, row_hash
from watchgate.core.model.records import CheckpointData, Draft, NoteData, PurgedData
from watchgate.service.journal.journal_disk import HeadFile, head_path, insert_rows
from watchgate.service.journal.schema import open_to_write


class Past:
    """What a core did to a journal; `rows` are those that are left, oldest first."""

    def __init__(self) -> None:
        self.chain = Chain("core-a", START, whole)
        self.rows: list[JournalRow] = []
        self.removed_to = 0
        """How far a checkpoint lets records go, whether or not they are gone."""

    def note(self, session: str) -> None:
        self._seal("notice", NoteData(native="Note", text=f"in {session}"), session)

    def purge(self, session: str) -> None:
        """Drops the payloads of a session, if it has any."""
        bare = [row.seq for row in self.rows if row.session == session and row.data is not None]
        if bare:
            data = PurgedData(
                agent="claude", session=session, count=len(bare), upto=bare[-1], by="kim"
            )
            self._seal("policy.purged", data)
            self.rows = [
                msgspec.structs.replace(row, data=None) if row.seq in bare else row
                for row in self.rows
            ]

    def let_go(self, count: int, gone: int) -> None:
        """Seal a checkpoint over the oldest `count` records; `gone` of them are removed by now."""
        leaving = self.rows[:count]
        if leaving:
            last = leaving[-1]
            data = CheckpointData(
                removed_to=last.seq,
                hash=last.hash,
                count=len(leaving),
                since=leaving[0].at,
                until=last.at,
                why="older than 1 days",
            )
            self._seal("policy.checkpoint", data)
            self.removed_to = max(self.removed_to, last.seq)
            del self.rows[: min(gone, len(leaving))]

    def written(self, path: Path, forged: Iterable[JournalRow] | None = None) -> Path:
        """The journal of these rows with its head file, or that of others in their place."""
        path.parent.mkdir(parents=True, exist_ok=True)
        _lay(path, self.rows if forged is None else forged)
        last = self.rows[-1] if self.rows else None
        head = HeadFile(head_path(path))
        head.write(Head(last.seq, last.hash) if last else START, durable=False)
        head.close()
        return path

    def _seal(self, kind: str, data: Any, session: str | None = None) -> None:
        agent = "claude" if session else None
        at = (self.chain.seq + 1) * 1_000_000
        draft = Draft(kind=kind, at=at, data=data, agent=agent, session=session)
        self.rows.append(self.chain.seal(draft)[1])


def _lay(path: Path, rows: Iterable[JournalRow]) -> None:
    with closing(open_to_write(path)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("DELETE FROM record")
        if kept := list(rows):
            insert_rows(connection, kept)


def resealed(row: JournalRow, **fields: Any) -> JournalRow:
    """The row with other fields and the hash that they call for."""
    changed = msgspec.structs.replace(row, **fields)
    return msgspec.structs.replace(changed, hash=row_hash(changed))

"""The statements on the journal's rows: added at its end, taken away from its front."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import msgspec

from watchgate.core.chain import START, Head, Row
from watchgate.service.journal.schema import LAST_SEQ

T = TypeVar("T")

BATCH_ROWS = 256
GIVEN_BACK_PAGES = 64
SPARE_PAGES = 256
"""Free pages that the file keeps for the rows to come."""

_INSERT = "INSERT INTO record VALUES "
_PLACES = ("CAST(? AS TEXT)" if field == "data" else "?" for field in Row.__struct_fields__)
_VALUES = f"({','.join(_PLACES)})"
_BLOCKS = (256, 64, 16)


class ForeignWriteError(Exception):
    """Another program has written to the journal, or made it drop what is written."""

    def __init__(self) -> None:
        super().__init__(
            "another program has written to it, so that no allow can rest on it: run `watchgate "
            "audit verify`, stop the core and move the journal away as evidence"
        )


def _as_it_is(value: T) -> T:
    return value


# The driver asks every value that is no number or text whether it can adapt itself, which costs
# more than to write it, unless it finds an adapter here.
for _kind in (bytes, type(None)):
    sqlite3.register_adapter(_kind, _as_it_is)


def insert(connection: sqlite3.Connection, rows: Sequence[Row], purged: Sequence[int] = ()) -> None:
    """Writes the rows in one transaction; raises `sqlite3.Error` and leaves none of them.

    Raises `ForeignWriteError` where the database was made to drop some.

    In the same transaction the rows numbered `purged` lose their data, as one of the new tells.

    A statement takes many rows at once: each statement gives up the interpreter's lock, and a
    busy event loop hands it back only after some milliseconds.
    """
    sizes = _sizes(len(rows))
    alone = len(sizes) == 1 and not purged
    done = 0
    try:
        if not alone:
            connection.execute("BEGIN IMMEDIATE")
        for size in sizes:
            block = rows[done : done + size]
            added = connection.execute(
                _INSERT + ",".join([_VALUES] * size),
                [value for row in block for value in msgspec.structs.astuple(row)],
            ).rowcount
            if added != size:
                # Only a trigger does that, and there was none when the journal was opened.
                raise ForeignWriteError
            done += size
        if purged:
            drop_data(connection, purged)
        if not alone:
            connection.execute("COMMIT")
    except (sqlite3.Error, ForeignWriteError):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def drop_data(connection: sqlite3.Connection, seqs: Sequence[int]) -> None:
    """Takes these rows' data away, and their bytes off the pages; raises `sqlite3.Error`.

    A checkpoint keeps its own: without it the rows before it could not be told from lost ones.
    """
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute(
        "UPDATE record SET data = NULL WHERE kind <> 'policy.checkpoint'"
        " AND seq IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(seqs).decode(),),
    )


def delete(connection: sqlite3.Connection, upto: int) -> None:
    """Deletes the rows up to a number, never the newest; raises `sqlite3.Error`."""
    with _unhurried(connection):
        connection.execute(
            "DELETE FROM record WHERE seq <= ? AND seq < (SELECT max(seq) FROM record)", (upto,)
        )


def give_back(connection: sqlite3.Connection) -> bool:
    """Shortens the file by some of its free pages; returns whether there are too many left."""
    free: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    if free <= SPARE_PAGES:
        return False
    with _unhurried(connection):
        # It gives back a page for each step, and only a script is stepped to its end.
        connection.executescript(f"PRAGMA incremental_vacuum({GIVEN_BACK_PAGES})")
    left: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    return SPARE_PAGES < left < free


def empty_log(connection: sqlite3.Connection) -> bool:
    """Moves the log into the database and empties it; False, at once, while somebody reads."""
    limit_ms: int = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute("PRAGMA busy_timeout=0")
    try:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout={limit_ms}")
    return not busy


def foreign_version(connection: sqlite3.Connection) -> int:
    """Returns a number that another connection's commit changes, and none of this one's."""
    version: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return version


def newest(connection: sqlite3.Connection) -> Head:
    """Returns the end of the chain as the database holds it; raises `sqlite3.Error`."""
    row = connection.execute("SELECT seq, hash FROM record ORDER BY seq DESC LIMIT 1").fetchone()
    if not row:
        return START
    if not isinstance(row[0], int) or row[0] > LAST_SEQ:
        raise sqlite3.DatabaseError("the number of its newest record leaves none for the next")
    return Head(*row)


@contextmanager
def _unhurried(connection: sqlite3.Connection) -> Iterator[None]:
    """Lets the block's changes reach the disk later: whether they are there decides nothing."""
    connection.execute("PRAGMA synchronous=NORMAL")
    try:
        yield
    finally:
        connection.execute("PRAGMA synchronous=FULL")


def _sizes(count: int) -> list[int]:
    # Few different statements, so that each stays prepared; any small count is a single one.
    sizes = []
    for block in _BLOCKS:
        sizes += [block] * (count // block)
        count %= block
    return [*sizes, count] if count else sizes

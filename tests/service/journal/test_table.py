"""What is done to rows besides adding them, and that it leaves the writer as careful as before."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.scribe import write_history
from watchgate.service.journal.journal_disk import (
    GIVEN_BACK_PAGES,
    SPARE_PAGES,
    delete_rows,
    drop_row_data,
    give_back_pages,
)
from watchgate.service.journal.schema import open_to_write

FULL = 2


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    write_history(tmp_path / "journal.db", 60, text="x" * 40_000)
    with closing(open_to_write(tmp_path / "journal.db")) as connection:
        yield connection


def pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def numbers(connection: sqlite3.Connection) -> list[int]:
    return [seq for (seq,) in connection.execute("SELECT seq FROM record ORDER BY seq")]


def test_rows_leave_from_the_front_and_the_newest_never_does(
    connection: sqlite3.Connection,
) -> None:
    delete_rows(connection, 40)
    assert numbers(connection) == list(range(41, 61))
    delete_rows(connection, 1_000)
    assert numbers(connection) == [60]


def test_pages_are_given_back_some_at_a_time_but_for_a_few(connection: sqlite3.Connection) -> None:
    delete_rows(connection, 50)
    free = pragma(connection, "freelist_count")
    assert free > SPARE_PAGES + 2 * GIVEN_BACK_PAGES
    while give_back_pages(connection):
        free -= GIVEN_BACK_PAGES
        assert pragma(connection, "freelist_count") == free
    assert SPARE_PAGES - GIVEN_BACK_PAGES < pragma(connection, "freelist_count") <= SPARE_PAGES
    assert not give_back_pages(connection)


def test_every_write_is_flushed_again_afterwards(connection: sqlite3.Connection) -> None:
    delete_rows(connection, 50)
    assert pragma(connection, "synchronous") == FULL
    give_back_pages(connection)
    assert pragma(connection, "synchronous") == FULL
    connection.execute("PRAGMA query_only = ON")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        delete_rows(connection, 55)
    assert pragma(connection, "synchronous") == FULL


def test_data_are_dropped_and_what_identifies_them_stays(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE record SET kind = 'policy.checkpoint' WHERE seq = 3")
    before = connection.execute("SELECT digest, hash FROM record").fetchall()
    drop_row_data(connection, [2, 3, 5, 900])
    empty = connection.execute("SELECT seq FROM record WHERE data IS NULL").fetchall()
    assert empty == [(2,), (5,)], "the records before a checkpoint cannot be told without it"
    assert connection.execute("SELECT digest, hash FROM record").fetchall() == before

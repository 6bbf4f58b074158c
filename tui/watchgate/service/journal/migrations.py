"""Migration of a journal of an older format, before this program writes to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping

Step = Callable[[sqlite3.Connection], None]


def migrate(connection: sqlite3.Connection, version: int, wanted: int) -> None:
    """Brings the journal from the format `version` to `wanted`, one step after the other.

    A step is one transaction under SQLite's own lock, and may be taken again over what it made: a
    core that is killed leaves the older format, whole. Raises `sqlite3.Error`.
    """
    for older in range(version, wanted):
        STEPS[older](connection)
        connection.execute(f"PRAGMA user_version={older + 1}")


def _with_pages_to_give_back(connection: sqlite3.Connection) -> None:
    """Makes a file of format 2, which can shrink: only one that is written anew can."""
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


STEPS: Mapping[int, Step] = {1: _with_pages_to_give_back}
"""The step from each older format to the next."""

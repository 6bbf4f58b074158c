"""What a journal of an older format goes through before this program writes to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping

Step = Callable[[sqlite3.Connection], None]


def migrate(connection: sqlite3.Connection, found: int, wanted: int) -> None:
    """Bring the journal from the format `found` to `wanted`, one step after the other.

    A step is one transaction under SQLite's own lock, and may be taken again over what it made: a
    core that is killed leaves the older format, whole. Raises `sqlite3.Error`.
    """
    for older in range(found, wanted):
        STEPS[older](connection)
        connection.execute(f"PRAGMA user_version={older + 1}")


def _with_pages_to_give_back(connection: sqlite3.Connection) -> None:
    """Format 2 can shrink: only a file that is written anew learns how."""
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


STEPS: Mapping[int, Step] = {1: _with_pages_to_give_back}
"""How a journal of each older format becomes one of the next."""

"""`journal.head`: where the chain had got to at the newest decision, so that a cut tail shows."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

from watchgate.core.chain import Head, Problem

_HASH_DIGITS = 64
_NUMBER_DIGITS = 18


def head_path(journal: Path) -> Path:
    """The head file that belongs to a journal."""
    return journal.with_name("journal.head")


def write_head(path: Path, head: Head) -> None:
    """Replace the file in one step; raises `OSError` and leaves the old one."""
    fresh = path.with_name(path.name + ".new")
    descriptor = os.open(fresh, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    try:
        os.write(descriptor, f"{head.seq} {head.hash}\n".encode())
        # Without this a power cut may leave the new name with no content, which reads as a cut.
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    fresh.replace(path)


def head_problem(path: Path, connection: sqlite3.Connection) -> Problem | None:
    """What is wrong with the journal when measured by its head file, if anything.

    Records after the newest decision are not covered: they may be missing unnoticed. Raises
    `sqlite3.Error`.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return Problem(0, f"{path.name} is not a plain file")
        text = path.read_text("ascii")
    except FileNotFoundError:
        return _missing(path, connection)
    except (OSError, UnicodeDecodeError) as error:
        return Problem(0, f"{path.name} cannot be read: {error}")
    number, _, digits = text.strip().partition(" ")
    if not (number.isdecimal() and len(number) <= _NUMBER_DIGITS and len(digits) == _HASH_DIGITS):
        return Problem(0, f"{path.name} holds no number and hash")
    seq = int(number)
    found = connection.execute("SELECT hash FROM record WHERE seq = ?", (seq,)).fetchone()
    if found is None:
        last = connection.execute("SELECT coalesce(max(seq), 0) FROM record").fetchone()[0]
        return Problem(
            last + 1,
            f"record {seq} is missing: {path.name} names it, the journal ends at record {last}",
        )
    if found[0] != digits:
        return Problem(seq, f"record {seq} has another hash than {path.name} says")
    return None


def _missing(path: Path, connection: sqlite3.Connection) -> Problem | None:
    """Every decision is followed by the file, so that with one it can only have been taken away."""
    decided = "SELECT max(seq) FROM record WHERE kind = 'approval.decided'"
    if connection.execute(decided).fetchone()[0] is None:
        return None
    last = connection.execute("SELECT max(seq) FROM record").fetchone()[0]
    return Problem(
        last, f"{path.name} is missing: whether records after {last} were cut off cannot be told"
    )

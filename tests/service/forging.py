"""Somebody with a finished journal in hand."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


def copy_to(history: Path, folder: Path) -> Path:
    """A copy of a journal with what stands beside it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(history.parent, folder)
    return folder / history.name


@contextmanager
def forger(path: Path) -> Iterator[sqlite3.Connection]:
    """Somebody with the database in hand."""
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection

"""The steps of a core that leave something behind, and its death before or after one of them.

Every statement that changes a database, every change of a file and every send to a client is a
step, and so are a row's way into the queue and the word that it is on disk. They are found by
wrapping what the core calls, not by knowing its code: a file or a statement that is added later is
a step by itself. Installed before the core is imported, asleep until `arm`.
"""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from tests.crash.fates import UNHARMED, Fate

_LOOKS = ("SELECT", "EXPLAIN", "WITH")


class _Steps:
    """Counts what this process does, and ends it at its fate."""

    def __init__(self) -> None:
        self.fate = UNHARMED
        self.told: Callable[[str], object] | None = None
        self.at_death: Callable[[str], None] | None = None
        self.counts: Counter[str] = Counter()
        self.files: dict[int, str] = {}
        self.lock = Lock()

    def take(self, name: str, call: Callable[..., Any], *args: Any, **more: Any) -> Any:
        if self.told is None:
            return call(*args, **more)
        with self.lock:
            self.counts[name] += 1
            is_last = (name, self.counts[name]) == (self.fate.step, self.fate.number)
        self.told(name)
        if is_last and self.fate.side == "before":
            self.die()
        result = call(*args, **more)
        if is_last:
            self.die()
        return result

    def die(self) -> None:
        assert self.at_death is not None
        self.at_death(self.fate.step)
        os.kill(os.getpid(), signal.SIGKILL)


_steps = _Steps()
take = _steps.take


def arm(fate: Fate, told: Callable[[str], object], at_death: Callable[[str], None]) -> None:
    """From now on every step is `told`; the one of this fate is told to `at_death` and the last."""
    _steps.fate, _steps.told, _steps.at_death = fate, told, at_death


def install() -> None:
    """Wraps what a core calls; before it is imported, for it may keep what it finds."""
    connect = sqlite3.connect

    def watched(database: Any, *args: Any, **more: Any) -> sqlite3.Connection:
        connection: _Connection = connect(database, *args, factory=_Connection, **more)
        connection.file = Path(str(database).partition("?")[0]).name
        return connection

    sqlite3.connect = watched  # type: ignore[assignment]
    _wrap_files()
    for name in ("send", "sendall"):
        _wrap_send(name)


class _Connection(sqlite3.Connection):
    """A connection whose statements are steps, by the database's file and their first words."""

    file = ""

    def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
        return self._take(super().execute, sql, *args)

    def executemany(self, sql: str, *args: Any) -> sqlite3.Cursor:
        return self._take(super().executemany, sql, *args)

    def executescript(self, sql: str, *args: Any) -> sqlite3.Cursor:
        return self._take(super().executescript, sql, *args)

    def commit(self) -> None:
        take(f"{self.file} COMMIT", super().commit)

    def _take(self, call: Callable[..., Any], sql: str, *args: Any) -> sqlite3.Cursor:
        words = sql.split(None, 2)
        if words[0] in _LOOKS or (words[0] == "PRAGMA" and "=" not in sql and "(" not in sql):
            found: sqlite3.Cursor = call(sql, *args)
            return found
        what = words[0] if words[0] != "PRAGMA" else f"PRAGMA {words[1].partition('=')[0]}"
        taken: sqlite3.Cursor = take(f"{self.file} {what.rstrip(';')}", call, sql, *args)
        return taken


def _wrap_files() -> None:
    really_open = os.open

    def opened(path: Any, flags: int, *args: Any, **more: Any) -> int:
        name = Path(os.fsdecode(path)).name
        if flags & os.O_CREAT:
            descriptor: int = take(f"{name} made", really_open, path, flags, *args, **more)
        else:
            descriptor = really_open(path, flags, *args, **more)
        _steps.files[descriptor] = name
        return descriptor

    os.open = opened
    for verb in ("write", "pwrite", "fsync", "fdatasync", "ftruncate"):
        if hasattr(os, verb):
            _wrap_descriptor(verb)
    for verb in ("replace", "rename", "unlink"):
        _wrap_path(verb)


def _wrap_descriptor(verb: str) -> None:
    call = getattr(os, verb)

    def changed(descriptor: int, *args: Any) -> Any:
        name = _steps.files.get(descriptor)
        return (
            call(descriptor, *args)
            if name is None
            else take(f"{name} {verb}", call, descriptor, *args)
        )

    setattr(os, verb, changed)


def _wrap_path(verb: str) -> None:
    call = getattr(os, verb)

    def changed(path: Any, *args: Any, **more: Any) -> Any:
        name = Path(path).name
        result = take(f"{name} {verb}", call, path, *args, **more)
        # What was open under the old name is known by the new one from now on.
        for descriptor in [each for each, known in _steps.files.items() if known == name]:
            _steps.files[descriptor] = Path(args[0]).name if args else f"{name} gone"
        return result

    setattr(os, verb, changed)


def _wrap_send(verb: str) -> None:
    call = getattr(socket.socket, verb)

    def sent(self: socket.socket, *args: Any) -> Any:
        if _steps.told is None or self.family != socket.AF_UNIX:
            return call(self, *args)
        name = Path(str(self.getsockname())).name
        return take(f"{name} {verb}", call, self, *args) if name else call(self, *args)

    setattr(socket.socket, verb, sent)

"""The core's thread that keeps the index up to the journal, some moments behind it."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec

from watchgate.core.records import Record
from watchgate.service.search.index_file import remove
from watchgate.service.search.upkeep import Upkeep


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """The longest wait of new records for others, and the pause after a fault."""

    gather_s: float = 0.5
    retry_s: float = 10.0


STEADY = Pace()


class Indexer:
    """Keeps an index up to its journal; all methods are for any thread.

    It is a watcher of the recorder: a record announces work. `fault` says why nothing can be
    indexed now; then a search reads the journal itself.
    """

    def __init__(self, journal: Path, *, pace: Pace = STEADY) -> None:
        self.fault = ""
        self._journal = journal
        self._pace = pace
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._due = True
        self._closing = False
        self._rounds = 0
        self._owed = 0
        self._thread = threading.Thread(target=self._run, name="index", daemon=True)
        self._thread.start()

    def offer(self, _record: Record) -> None:
        """Notes that a record was made, and will soon be in the journal."""
        if not self._due:
            with self._lock:
                self._due = True
                self._wake.notify_all()

    def forget(self) -> None:
        """Removes the index, which holds words of purged records: all is indexed anew.

        Raises `OSError` where the file cannot be removed.
        """
        remove(self._journal)
        with self._lock:
            self._due = True
            self._wake.notify_all()

    def settle(self, timeout_s: float) -> bool:
        """Waits until the journal's present records are indexed; returns whether they are."""
        with self._lock:
            enough = self._rounds + 2  # the round under way may have begun before
            self._owed = max(self._owed, enough)
            self._wake.notify_all()
            done = self._wake.wait_for(lambda: self._rounds >= enough, timeout_s)
        return done and not self.fault

    def close(self) -> None:
        """Ends the thread; the next core goes on where it stopped."""
        with self._lock:
            self._closing = True
            self._wake.notify_all()
        self._thread.join()

    def _run(self) -> None:
        upkeep = Upkeep(self._journal)
        while not self._closing:
            with self._lock:
                self._wake.wait_for(lambda: self._due or self._urgent())
                self._due = False
            self.fault = upkeep.round(lambda: self._closing)
            with self._lock:
                self._rounds += 1
                self._due |= bool(self.fault)
                self._wake.notify_all()
                pause_s = self._pace.retry_s if self.fault else self._pace.gather_s
                self._wake.wait_for(self._urgent, pause_s)
        upkeep.close()

    def _urgent(self) -> bool:
        return self._closing or self._rounds < self._owed

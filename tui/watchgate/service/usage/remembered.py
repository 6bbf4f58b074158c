"""Indexes the followed files, with the facts in them; unchanged ones come from a cache."""

from __future__ import annotations

import os
from pathlib import Path

from watchgate.core.ledger.ledger import Ledger
from watchgate.service.usage.cache import Entry, Folder, UsageCache, encoded
from watchgate.service.usage.database import Database
from watchgate.service.usage.followed import Followed, stamp
from watchgate.service.usage.known import Known

CALL_BYTES = 200
"""About what a call takes in the cache."""


class Remembered:
    """Reads files or takes them from the cache; one that has grown since is read anew."""

    def __init__(self, cache: Path, known: Known) -> None:
        self._cache = UsageCache(cache)
        self._known = known
        self._changed: set[Folder] = set()

    def read(self, followed: Followed, ledger: Ledger, limit: int) -> int:
        """Reads as `Followed.read`; a call that comes out of the cache counts as some bytes."""
        if isinstance(followed, Database):
            return followed.read(ledger, limit)
        folder = _folder(followed)
        if followed.is_new and self._restored(folder, followed, ledger):
            return len(followed.cached_calls or ()) * CALL_BYTES
        self._changed.add(folder)
        if followed.cached_calls is None:
            followed.cached_calls = []
        return followed.read(ledger, limit)

    def save(self) -> None:
        """Writes the folders in which something was read."""
        if self._changed:
            files: dict[Folder, list[Followed]] = {folder: [] for folder in self._changed}
            for followed in self._known.files.values():
                if (folder := _folder(followed)) in files:
                    files[folder].append(followed)
            for folder, followed_files in files.items():
                entries = [self._entry(folder, each) for each in followed_files]
                self._cache.save(folder, [entry for entry in entries if entry is not None])
            self._changed.clear()
        self._cache.release()

    def _restored(self, folder: Folder, followed: Followed, ledger: Ledger) -> bool:
        entry = self._cache.entry(folder, _name(followed))
        if entry is None or stamp(os.lstat(followed.path)) != entry.read_to:
            return False
        calls = entry.decode_calls()
        if calls is None:
            return False
        facts = entry.facts
        if calls or facts.thread:
            thread, parent = facts.thread, facts.parent
            ledger.put(followed.key, followed.agent, calls, thread=thread, parent=parent)
        followed.restore(entry.read_to, facts, entry.unreadable)
        followed.cached_calls = calls
        return True

    def _entry(self, folder: Folder, followed: Followed) -> Entry | None:
        """Returns the entry to be written of a file: none while it is only partly read."""
        if isinstance(followed, Database) or followed.fault or followed.left:
            return None
        if followed.asleep:
            return self._cache.entry(folder, _name(followed))
        calls = encoded(followed.cached_calls) if followed.cached_calls is not None else None
        if calls is None:
            return None
        read_to, facts = followed.read_to, followed.facts
        return Entry(_name(followed), read_to, facts, followed.unreadable, calls)


def _folder(followed: Followed) -> Folder:
    return followed.agent, followed.path.rpartition("/")[0]


def _name(followed: Followed) -> bytes:
    return os.fsencode(followed.path.rpartition("/")[2])

"""Indexes the followed files, with the facts in them; unchanged ones come from a cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from watchgate.agents.usage import FileFacts, UsageForm
from watchgate.core.model.usage_records import Limit
from watchgate.core.usage.ledger import Ledger
from watchgate.service.usage.file_scan import UsageFile
from watchgate.service.usage.followed_file import FollowedFile, ReaderOf, Stamp, stamp
from watchgate.service.usage.message_database import MessageDatabase
from watchgate.service.usage.text_files import GrowingFile, WholeValueFile
from watchgate.service.usage.usage_cache import CachedFile, Folder, UsageCache, encoded

Key = tuple[str, str]
"""An agent and a session of it."""


class Unreadable(msgspec.Struct, frozen=True):
    """Lines and files that should hold usage and cannot be read: sums may lack that much."""

    lines: int = 0
    files: int = 0


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts in the files of a session beside its calls; empty or None where they lack.

    `limits` are those of the agent's account, as told at `limits_at_us` (UTC µs). `unreadable`
    counts lines of the session's files.
    """

    cwd: str = ""
    context_used: int | None = None
    context_size: int | None = None
    limits: tuple[Limit, ...] = ()
    limits_at_us: int = 0
    unreadable: int = 0


def joined_facts(files: Iterable[tuple[int, FileFacts, int]]) -> SessionFacts:
    """Joins the facts of files: each its time of writing, facts, and unreadable lines.

    The context is that of the newest file of the session itself, not of a sub-agent.
    """
    limits: tuple[Limit, ...] = ()
    cwd, used, size, limits_at, unreadable = "", None, None, 0, 0
    for _written, facts, lines in sorted(files, key=lambda each: each[0]):
        unreadable += lines
        if facts.limits and facts.limits_at_us >= limits_at:
            limits, limits_at = facts.limits, facts.limits_at_us
        if facts.sub:
            continue
        cwd = facts.cwd or cwd
        if facts.context_used is not None:
            used = facts.context_used
        if facts.context_size is not None:
            size = facts.context_size
    return SessionFacts(
        cwd=cwd,
        context_used=used,
        context_size=size,
        limits=limits,
        limits_at_us=limits_at,
        unreadable=unreadable,
    )


_FORMS: Mapping[UsageForm, Callable[..., FollowedFile]] = {
    "lines": GrowingFile,
    "whole": WholeValueFile,
    "rows": MessageDatabase,
}


class FileIndex:
    """The followed files by their paths, and the gone ones whose calls stay counted."""

    def __init__(self, ledger: Ledger, readers: Mapping[str, ReaderOf]) -> None:
        self.files: dict[str, FollowedFile] = {}
        self.faults: set[FollowedFile] = set()
        self.vacated: list[UsageFile] = []
        self._ledger = ledger
        self._readers = readers
        self._by_key: dict[str, FollowedFile] = {}
        self._by_inode: dict[tuple[int, int], FollowedFile] = {}
        self._databases: list[MessageDatabase] = []
        self._sessions: dict[Key, dict[FollowedFile, None]] = {}
        self._session_of: dict[FollowedFile, Key] = {}

    def adopt(self, file: UsageFile, about: os.stat_result) -> FollowedFile | None:
        """Follows a file that was found; None if that needs no reading, since it is followed.

        One that was moved goes on where it was, and of several names of one file the first counts.
        """
        path = file.path
        if path in self.files or file.agent not in self._readers:
            return None
        inode = (about.st_dev, about.st_ino)
        same = self._by_inode.get(inode)
        if same is not None and same.agent == file.agent:
            if self._is_live(same) and _is_there(same, inode):
                return None
            if same.is_at(path):
                return self._moved(same, file)
        followed = _FORMS[file.form](
            path, file.agent, self._readers[file.agent], key=self._key(path)
        )
        self.files[path] = self._by_key[followed.key] = self._by_inode[inode] = followed
        if isinstance(followed, MessageDatabase):
            self._databases.append(followed)
        return followed

    def _moved(self, followed: FollowedFile, file: UsageFile) -> FollowedFile:
        if self.files.pop(followed.path, None) is not None:
            # Another file may have its old name by now, which is none that would be found again.
            self.vacated.append(file._replace(path=followed.path))
        followed.path = file.path
        self.files[file.path] = followed
        return followed

    def lose(self, path: str) -> FollowedFile | None:
        """Follows it no longer, since it is gone; its calls stay."""
        followed = self.files.pop(path, None)
        if followed is not None:
            self.faults.discard(followed)
        return followed

    def read(self, followed: FollowedFile) -> None:
        """Takes in what a file holds after it was read on."""
        (self.faults.add if followed.fault else self.faults.discard)(followed)
        if not followed.is_new:
            self._settle(followed, followed.read_to)
        key = (followed.agent, followed.facts.session)
        before = self._session_of.get(followed)
        if key[1] and key != before:
            if before is not None:
                self._sessions[before].pop(followed, None)
            self._session_of[followed] = key
            self._sessions.setdefault(key, {})[followed] = None

    def of(self, key: Key) -> Iterator[tuple[int, FileFacts, int]]:
        """Yields for each file of a session its time of writing, facts, and unreadable lines."""
        for followed in self._sessions.get(key, ()):
            yield followed.written_ns, followed.facts, followed.unreadable
        agent, session = key
        for database in self._databases:
            if database.agent == agent and (facts := database.facts_of(session)) is not None:
                yield database.written_ns, facts, database.unreadable

    def named(self, agent: str, session: str) -> list[FollowedFile]:
        """Returns the files that name a session in their path or in their content."""
        files = dict(self._sessions.get((agent, session), {}))
        for path, followed in self.files.items():
            if followed.agent == agent and session in path.rpartition("/")[2]:
                files[followed] = None
        return [followed for followed in files if self._is_live(followed)]

    def _settle(self, followed: FollowedFile, read_to: Stamp) -> None:
        """Gives the calls of a file that was moved over this one to this one."""
        inode = (read_to.dev, read_to.ino)
        followed.written_ns = read_to.mtime_ns
        before = self._by_inode.get(inode)
        self._by_inode[inode] = followed
        if (
            before is None
            or before is followed
            or (self._is_live(before) and _is_there(before, inode))
        ):
            return
        if before.is_at(followed.path):
            self._ledger.forget(before.key)

    def _is_live(self, followed: FollowedFile) -> bool:
        return self.files.get(followed.path) is followed

    def _key(self, path: str) -> str:
        """Returns a name for the ledger: what had it and is gone gives way to the new file."""
        before = self._by_key.get(path)
        if before is None:
            return path
        if self._is_live(before):
            return f"{path}\0{len(self._by_key)}"  # that one was moved here from elsewhere
        self._ledger.forget(path)
        return path


def _is_there(followed: FollowedFile, inode: tuple[int, int]) -> bool:
    try:
        about = os.lstat(followed.path)
    except (OSError, ValueError):
        return False
    return (about.st_dev, about.st_ino) == inode


CALL_BYTES = 200
"""About what a call takes in the cache."""


class CachedReader:
    """Reads files or takes them from the cache; one that has grown since is read anew."""

    def __init__(self, cache: Path, known: FileIndex) -> None:
        self._cache = UsageCache(cache)
        self._known = known
        self._changed: set[Folder] = set()

    def read(self, followed: FollowedFile, ledger: Ledger, limit: int) -> int:
        """Reads as `FollowedFile.read`; a call that comes out of the cache counts as some bytes."""
        if isinstance(followed, MessageDatabase):
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
            files: dict[Folder, list[FollowedFile]] = {folder: [] for folder in self._changed}
            for followed in self._known.files.values():
                if (folder := _folder(followed)) in files:
                    files[folder].append(followed)
            for folder, followed_files in files.items():
                entries = [self._entry(folder, each) for each in followed_files]
                self._cache.save(folder, [entry for entry in entries if entry is not None])
            self._changed.clear()
        self._cache.release()

    def _restored(self, folder: Folder, followed: FollowedFile, ledger: Ledger) -> bool:
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

    def _entry(self, folder: Folder, followed: FollowedFile) -> CachedFile | None:
        """Returns the entry to be written of a file: none while it is only partly read."""
        if isinstance(followed, MessageDatabase) or followed.fault or followed.left:
            return None
        if followed.asleep:
            return self._cache.entry(folder, _name(followed))
        calls = encoded(followed.cached_calls) if followed.cached_calls is not None else None
        if calls is None:
            return None
        read_to, facts = followed.read_to, followed.facts
        return CachedFile(_name(followed), read_to, facts, followed.unreadable, calls)


def _folder(followed: FollowedFile) -> Folder:
    return followed.agent, followed.path.rpartition("/")[0]


def _name(followed: FollowedFile) -> bytes:
    return os.fsencode(followed.path.rpartition("/")[2])

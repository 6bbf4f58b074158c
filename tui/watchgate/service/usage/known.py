"""Indexes the followed files, with the facts in them; unchanged ones come from a cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from watchgate.agents.usage.base import FileFacts, Form
from watchgate.core.ledger.ledger import Ledger
from watchgate.service.usage.database import Database
from watchgate.service.usage.facts import Key
from watchgate.service.usage.followed import Followed, ReaderOf, Stamp
from watchgate.service.usage.scan import Found
from watchgate.service.usage.tail import Tail
from watchgate.service.usage.whole import Whole

_FORMS: Mapping[Form, Callable[..., Followed]] = {"lines": Tail, "whole": Whole, "rows": Database}


class Known:
    """The followed files by their paths, and the gone ones whose calls stay counted."""

    def __init__(self, ledger: Ledger, readers: Mapping[str, ReaderOf]) -> None:
        self.files: dict[str, Followed] = {}
        self.faults: set[Followed] = set()
        self.vacated: list[Found] = []
        self._ledger = ledger
        self._readers = readers
        self._by_key: dict[str, Followed] = {}
        self._by_inode: dict[tuple[int, int], Followed] = {}
        self._databases: list[Database] = []
        self._sessions: dict[Key, dict[Followed, None]] = {}
        self._session_of: dict[Followed, Key] = {}

    def adopt(self, file: Found, about: os.stat_result) -> Followed | None:
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
        if isinstance(followed, Database):
            self._databases.append(followed)
        return followed

    def _moved(self, followed: Followed, file: Found) -> Followed:
        if self.files.pop(followed.path, None) is not None:
            # Another file may have its old name by now, which is none that would be found again.
            self.vacated.append(file._replace(path=followed.path))
        followed.path = file.path
        self.files[file.path] = followed
        return followed

    def lose(self, path: str) -> Followed | None:
        """Follows it no longer, since it is gone; its calls stay."""
        followed = self.files.pop(path, None)
        if followed is not None:
            self.faults.discard(followed)
        return followed

    def read(self, followed: Followed) -> None:
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

    def named(self, agent: str, session: str) -> list[Followed]:
        """Returns the files that name a session in their path or in their content."""
        files = dict(self._sessions.get((agent, session), {}))
        for path, followed in self.files.items():
            if followed.agent == agent and session in path.rpartition("/")[2]:
                files[followed] = None
        return [followed for followed in files if self._is_live(followed)]

    def _settle(self, followed: Followed, read_to: Stamp) -> None:
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

    def _is_live(self, followed: Followed) -> bool:
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


def _is_there(followed: Followed, inode: tuple[int, int]) -> bool:
    try:
        about = os.lstat(followed.path)
    except (OSError, ValueError):
        return False
    return (about.st_dev, about.st_ino) == inode

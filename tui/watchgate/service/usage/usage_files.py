"""All files of usage on this machine: found, followed, and entered in a ledger.

Everything is synchronous, for one thread at a time; only `note` may be called from any. What is
on the disk never raises: what cannot be read is counted.

- Transcripts that hooks have named: their paths are hints, which may be wrong.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from watchgate.agents.usage import UsageForm, UsagePlace
from watchgate.agents.usage.usage_readers import READERS
from watchgate.core.usage.ledger import Ledger
from watchgate.service.usage.file_index import (
    CachedReader,
    FileIndex,
    Key,
    SessionFacts,
    Unreadable,
    joined_facts,
)
from watchgate.service.usage.file_scan import FileScan, UsageFile
from watchgate.service.usage.followed_file import FollowedFile, ReaderOf, stamp

MAX_NOTES = 1000
"""Notes that wait; the oldest give way."""
LOOKS = 3
"""So often a session is looked for in all folders of its agent."""
MAX_OUTSIDE = 200
"""So many transcripts outside the known places have their sub-agents looked for."""
SESSION_CHARS = 8
"""A shorter id of a session is no name of a file."""

_FORMS: dict[str, UsageForm] = {".jsonl": "lines", ".json": "whole"}


class TranscriptHints:
    """Takes hints from any thread; they are resolved by the thread that reads."""

    def __init__(self, places: Sequence[UsagePlace]) -> None:
        self._roots = tuple(dict.fromkeys(os.path.realpath(place.root) + "/" for place in places))
        self._notes: deque[tuple[str, str, str]] = deque(maxlen=MAX_NOTES)
        self._sought: dict[tuple[str, str], int] = {}
        self._outside: set[str] = set()

    def note(self, agent: str, session: str, path: str) -> None:
        """Notes a session that a hook named, and its transcript if `path` is not empty."""
        self._notes.append((agent, session, path))

    def searches(self, agent: str) -> bool:
        """Returns whether all folders of an agent should be listed, as a session is missing."""
        sought = [key for key in self._sought if key[0] == agent]
        for key in sought:
            self._sought[key] -= 1
            if not self._sought[key]:
                del self._sought[key]
        return bool(sought)

    def take(self, known: FileIndex) -> Iterator[FollowedFile | UsageFile | UsagePlace]:
        """Yields what is to be read first: a followed file, a new one, or a place to look in."""
        notes = {}
        while self._notes:
            agent, session, path = self._notes.popleft()
            notes[agent, session] = path
        for (agent, session), path in notes.items():
            yield from self._worked_out(known, agent, session, path)

    def _worked_out(
        self, known: FileIndex, agent: str, session: str, path: str
    ) -> Iterator[FollowedFile | UsageFile | UsagePlace]:
        real = _regular(path)
        form = next((form for end, form in _FORMS.items() if path.endswith(end)), None)
        if real and (followed := known.files.get(real)) is not None:
            yield followed
        elif real and form is not None:
            yield UsageFile(real, agent, form)
            yield from self._subagents(agent, real)
        elif len(session) >= SESSION_CHARS:
            files = known.named(agent, session)
            yield from files
            if not files and (agent, session) not in self._sought:
                self._sought[agent, session] = LOOKS

    def _subagents(self, agent: str, path: str) -> Iterator[UsagePlace]:
        """Yields the folder of Claude Code's sub-agents for a transcript outside its places."""
        below = path.removesuffix(".jsonl") + "/subagents"
        if agent != "claude" or path.startswith(self._roots) or below in self._outside:
            return
        if len(self._outside) < MAX_OUTSIDE:
            self._outside.add(below)
            yield UsagePlace(agent=agent, root=below, pattern="**/*.jsonl")


def _regular(path: str) -> str:
    """Returns the path, free of links, of a regular file of this user's; empty for any other."""
    try:
        folder, slash, name = path.rpartition("/")
        if not path.startswith("/"):
            return ""
        real = os.path.realpath(folder or "/") + slash + name
        about = os.lstat(real)
    except (OSError, ValueError):
        return ""
    mine = stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid()
    return real if mine else ""


HOT = 128
"""So many files are looked at each time: those that were written last."""
ROUND = 512
"""And so many of all others, in turn."""
ALL_BYTES = 2**62


class UsageFiles:
    """Reads the newest files first, and those before all that a hook has named.

    Files that were written last before `since_us` (UTC µs) are read once they are written again.
    Calls of a file that is gone stay counted: what was used was used, and agents delete old files.
    """

    def __init__(
        self,
        places: Sequence[UsagePlace],
        ledger: Ledger,
        *,
        cache: Path | None = None,
        since_us: int = 0,
        readers: Mapping[str, ReaderOf] = READERS,
    ) -> None:
        """Finds no file yet.

        Args:
            places: Directories in which agents keep their files.
            ledger: The ledger that gets the calls.
            cache: A folder for what was read before.
            since_us: Older files are read only once they are written again (UTC µs).
            readers: Makers of readers, by agent.
        """
        self._ledger = ledger
        self._since_us = since_us
        places = [place for place in places if place.agent in readers]
        agents = dict.fromkeys(place.agent for place in places)
        self._scans = {
            agent: FileScan([place for place in places if place.agent == agent]) for agent in agents
        }
        self._known = FileIndex(ledger, readers)
        self._named = TranscriptHints(places)
        self._memory = CachedReader(cache, self._known) if cache is not None else None
        self._queue: dict[FollowedFile, int] = {}
        self._first: set[FollowedFile] = set()
        self._sorted = True
        self._hot: dict[FollowedFile, None] = {}
        self._turn: Iterator[FollowedFile] = iter(())
        self._lines = 0

    @property
    def unreadable(self) -> Unreadable:
        """Returns the number of lines and files that could not be read so far."""
        folders = sum(len(scan.unreadable) for scan in self._scans.values())
        return Unreadable(self._lines, len(self._known.faults) + folders)

    def look(self) -> None:
        """Finds files that are new or gone; cheap where nothing is."""
        for agent, scan in self._scans.items():
            everywhere = self._named.searches(agent)
            new, gone = scan.look(everywhere=everywhere)
            for path in gone:
                self._lose(path)
            for file in new:
                self._adopt(file)
        while self._known.vacated:
            self._adopt(self._known.vacated.pop())

    def note(self, agent: str, session: str, path: str) -> None:
        """Notes the transcript that a hook named for a session, which is read before all others.

        The path may be wrong or empty: then the session is looked for where the agent's files are.
        """
        self._named.note(agent, session, path)

    def refresh(self, limit_bytes: int | None = None) -> int:
        """Reads on, about so many bytes at most; returns how many are left, as far as is known."""
        self._take_notes()
        self._check()
        left = ALL_BYTES if limit_bytes is None else limit_bytes
        if not self._sorted:
            newest = sorted(
                self._queue, key=lambda each: (each in self._first, each.written_ns), reverse=True
            )
            self._queue = {followed: self._queue[followed] for followed in newest}
            self._sorted = True
        for followed in list(self._queue):
            if left <= 0:
                break
            left -= self._read(followed, left)
        return sum(self._queue.values())

    def of(self, key: Key) -> SessionFacts:
        """Returns the facts about a session, beside its calls, that its files hold."""
        return joined_facts(self._known.of(key))

    def save(self) -> None:
        """Writes what was read for the next start; for now and then, and for the end."""
        if self._memory is not None:
            self._memory.save()

    def _adopt(self, file: UsageFile, *, first: bool = False) -> None:
        try:
            about = os.lstat(file.path)
        except (OSError, ValueError):
            return
        followed = self._known.adopt(file, about)
        if followed is None:
            return
        followed.written_ns = about.st_mtime_ns
        if about.st_mtime_ns // 1000 < self._since_us and not first and followed.is_new:
            followed.sleep(stamp(about))
            return
        self._enqueue(followed, about.st_size, first=first)

    def _enqueue(self, followed: FollowedFile, size: int, *, first: bool = False) -> None:
        self._queue[followed] = max(size, self._queue.get(followed, 0))
        self._sorted = len(self._queue) == 1
        if first:
            self._first.add(followed)
            self._warm(followed)

    def _take_notes(self) -> None:
        for hint in self._named.take(self._known):
            if isinstance(hint, FollowedFile):
                self._enqueue(hint, 1, first=True)
            elif isinstance(hint, UsagePlace):
                self._scans.setdefault(hint.agent, FileScan([])).add([hint])
            else:
                self._adopt(hint, first=True)

    def _check(self) -> None:
        """Queues what has changed of the files that were written last, and of some others."""
        for followed in (*self._hot, *self._some()):
            if followed in self._queue or self._known.files.get(followed.path) is not followed:
                continue
            try:
                changed = followed.changed()
            except (OSError, ValueError):
                self._lose(followed.path)
                continue
            if changed:
                self._enqueue(followed, 1)
                self._warm(followed)

    def _some(self) -> list[FollowedFile]:
        batch = list(islice(self._turn, ROUND))
        if not batch:
            self._turn = iter(list(self._known.files.values()))
            batch = list(islice(self._turn, ROUND))
        return batch

    def _warm(self, followed: FollowedFile) -> None:
        self._hot.pop(followed, None)
        self._hot[followed] = None
        if len(self._hot) > HOT:
            del self._hot[next(iter(self._hot))]

    def _read(self, followed: FollowedFile, limit: int) -> int:
        before = followed.unreadable
        try:
            done = self._read_on(followed, limit)
        except (FileNotFoundError, NotADirectoryError):
            self._lose(followed.path)
            return 0
        self._lines += followed.unreadable - before
        self._known.read(followed)
        if len(self._hot) < HOT:
            self._hot.setdefault(followed)
        if followed.left and not followed.fault:
            self._queue[followed] = followed.left
        else:
            self._unqueue(followed)
        return done

    def _read_on(self, followed: FollowedFile, limit: int) -> int:
        if self._memory is None:
            return followed.read(self._ledger, limit)
        return self._memory.read(followed, self._ledger, limit)

    def _lose(self, path: str) -> None:
        followed = self._known.lose(path)
        if followed is not None:
            self._unqueue(followed)
            self._hot.pop(followed, None)

    def _unqueue(self, followed: FollowedFile) -> None:
        self._queue.pop(followed, None)
        self._first.discard(followed)

"""Follows agents' transcripts, and reports the calls in them that no hook reported.

A call is in its transcript once it has run, and a gate was asked before that: a call that no
hook has reported half a second after its result was found has passed no gate. That a person
broke a turn off is reported at once. OpenCode's calls come from its database.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from watchgate.agents.transcripts import READS, RanCallReader
from watchgate.agents.transcripts.opencode_transcript import OpenCodeCalls
from watchgate.agents.usage import UsagePlace
from watchgate.core.base.bounded import Recent
from watchgate.core.base.clock import Clock, Instant
from watchgate.core.gate.gate_coverage import TRANSCRIPT
from watchgate.core.lookback.transcript_call import TranscriptCall
from watchgate.core.model.events import Event, Lane, SessionChange, ToolResult
from watchgate.service.usage.file_scan import FileScan
from watchgate.service.usage.followed_file import NEVER, Stamp, stamp
from watchgate.service.usage.foreign_sqlite import wal_stamp
from watchgate.service.usage.opencode_parts import call_batches
from watchgate.service.usage.transcript_files import UnreadableError

NEWEST_PARTS = 300
"""Parts that are looked at: a call that has just ended began lately, and no index tells which."""
MAX_IDS = 4_000
_COMPLETED = b'"status":"completed"'


class OpenCodeDatabase:
    """Reads one database when it, or its log, has changed."""

    def __init__(self, path: str, since_us: int) -> None:
        """Calls that began before `since_us` (UTC µs) are old."""
        self._path = path
        self._since_us = since_us
        self._stamps: tuple[Stamp, Stamp] = (NEVER, NEVER)
        self._ids: Recent[tuple[str, str], None] = Recent(MAX_IDS)

    def new_calls(self) -> list[TranscriptCall]:
        """Returns the calls that have run since the last look; none while it cannot be read."""
        try:
            stamps = stamp(os.lstat(self._path)), wal_stamp(self._path)
        except (OSError, ValueError):
            return []
        if stamps == self._stamps:
            return []
        calls: list[TranscriptCall] = []
        try:
            reader = OpenCodeCalls()
            for some in call_batches(
                Path(self._path), reader, self._since_us, newest=NEWEST_PARTS, holding=_COMPLETED
            ):
                calls += (asked for asked in some if self._is_new(asked))
        except UnreadableError:
            return calls  # it is being written: the next look sees all of it
        self._stamps = stamps
        return calls

    def _is_new(self, asked: TranscriptCall) -> bool:
        key = asked.session, asked.tool.call_id or ""
        if not key[1] or asked.at_us < self._since_us or key in self._ids:
            return False
        self._ids[key] = None
        return True


CHUNK_BYTES = 4 * 1024 * 1024
"""At most so much is read at once; the rest comes next, and a longer line is passed over."""


HEAD_BYTES = 1024 * 1024
"""A first line may hold instructions for the model; a longer one is passed over."""


def first_line(path: str) -> bytes:
    """Returns a file's first line with its newline; empty if it has none or is not ours."""
    content, _upto = _read_own(path, 0, HEAD_BYTES)
    return content[: content.find(b"\n") + 1]


def read_on(path: str, offset: int) -> tuple[bytes, int]:
    """Returns the whole lines behind `offset`, and the offset of the next reading.

    Both are as before where there is no such file. A file that is shorter now begins anew.
    """
    content, start = _read_own(path, offset, CHUNK_BYTES)
    end = content.rfind(b"\n") + 1
    if not end and len(content) == CHUNK_BYTES:
        return b"", start + CHUNK_BYTES  # one line longer than anything that is read
    return content[:end], start + end


def _read_own(path: str, offset: int, limit: int) -> tuple[bytes, int]:
    """Returns at most `limit` bytes from `offset`, and the offset at which they begin.

    The path comes from outside: only a regular file of our own is read, no link, and never one that
    could make us wait.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError):
        return b"", offset
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
            return b"", offset
        start = offset if offset <= about.st_size else 0
        return os.pread(descriptor, limit, start), start
    except OSError:
        return b"", offset
    finally:
        os.close(descriptor)


LOOK_S = 0.5
"""Between two looks; what the first one finds is told by the second, as it may be heard of yet."""
NEWEST = 256
"""So many files are looked at each time: those that were written last."""
ROUND = 768
"""And so many of all others, in turn."""
MAX_NAMED = 200
_FOLLOWED = {*((agent, "lines") for agent in READS), ("opencode", "rows")}


class _FollowedTranscript(msgspec.Struct):
    """One transcript and the offset read so far; `reader` comes with its first new line."""

    path: str
    agent: str
    offset: int
    reader: RanCallReader | None = None


class TranscriptFollower:
    """Reads what is added to any transcript below `places`, and to those that hooks name."""

    def __init__(
        self,
        places: Sequence[UsagePlace],
        clock: Clock,
        knows: Callable[[TranscriptCall], bool],
        say: Callable[[Event], None],
        interrupted: Callable[[str, str, int], None] = lambda _agent, _session, _at_us: None,
    ) -> None:
        """Takes everything written before now as old.

        Args:
            places: Directories with transcripts of agents.
            clock: Source of UTC time.
            knows: Returns whether a hook reported a call already.
            say: Takes the event of a call that no hook reported.
            interrupted: Takes agent, session and time (UTC µs) of a turn that was broken off.
        """
        self._scan = FileScan([each for each in places if (each.agent, each.form) in _FOLLOWED])
        self._databases: dict[str, OpenCodeDatabase] = {}
        self._clock = clock
        self._knows = knows
        self._say = say
        self._interrupted = interrupted
        self._broken_off: list[tuple[str, str, int]] = []
        self._since_us = clock.now().wall_us
        self._files: dict[str, _FollowedTranscript] = {}
        self._newest: Recent[str, None] = Recent(NEWEST)
        self._turn: Iterator[str] = iter(())
        self._named: deque[tuple[str, str]] = deque(maxlen=MAX_NAMED)
        self._looked = False

    def on_event(self, event: Event) -> None:
        """Notes the path of a session's transcript, which may lie in none of the places."""
        body = event.body
        if isinstance(body, SessionChange) and body.transcript and event.agent in READS:
            self._named.append((event.agent, body.transcript))

    async def run(self) -> None:
        """Looks until cancelled."""
        before: list[TranscriptCall] = []
        while True:
            calls = await anyio.to_thread.run_sync(self.look)
            self.tell_interruptions()
            for asked in before:
                self.tell(asked)
            before = calls
            await anyio.sleep(LOOK_S)

    def tell(self, asked: TranscriptCall) -> None:
        """Reports a call that has run, unless a hook did."""
        if not self._knows(asked):
            self._say(_result(asked, self._clock.now()))

    def tell_interruptions(self) -> None:
        """Reports the turns that were broken off, as far as the last look found any."""
        broken_off, self._broken_off = self._broken_off, []
        for agent, session, at_us in broken_off:
            self._interrupted(agent, session, at_us)

    def look(self) -> list[TranscriptCall]:
        """Returns the calls that ran since the last look; at the first one everything is old."""
        new, gone = self._scan.look(everywhere=not self._looked)
        named = [self._named.popleft() for _ in range(len(self._named))]
        for path in gone:
            self._files.pop(path, None)
            self._databases.pop(path, None)
            self._newest.pop(path, None)
        for each in new:
            if each.form == "rows":
                self._databases[each.path] = OpenCodeDatabase(each.path, self._since_us)
            else:
                self._add(each.path, each.agent)
        for agent, path in named:
            self._add(path, agent)
        self._looked = True
        calls = [asked for database in self._databases.values() for asked in database.new_calls()]
        for path in dict.fromkeys((*self._newest, *self._some())):
            if (file := self._files.get(path)) is not None:
                calls += self._read(file)
        return calls

    def _add(self, path: str, agent: str) -> None:
        if path in self._files:
            return
        try:
            about = os.lstat(path)
        except (OSError, ValueError):
            return
        old = about.st_ctime_ns // 1_000 < self._since_us
        self._files[path] = _FollowedTranscript(path, agent, about.st_size if old else 0)
        self._newest.renew(path, None)

    def _some(self) -> list[str]:
        batch = list(islice(self._turn, ROUND))
        if not batch:
            self._turn = iter(list(self._files))
            batch = list(islice(self._turn, ROUND))
        return batch

    def _read(self, file: _FollowedTranscript) -> list[TranscriptCall]:
        try:
            if os.lstat(file.path).st_size == file.offset:
                return []
        except (OSError, ValueError):
            return []
        if file.reader is None:
            stem = os.path.basename(file.path).rpartition(".")[0]  # noqa: PTH119 - each half second
            file.reader = RanCallReader(file.agent, stem, self._since_us)
            if file.offset:
                file.reader.began(first_line(file.path))
        chunk, file.offset = read_on(file.path, file.offset)
        self._newest.renew(file.path, None)
        ran = file.reader.ran(chunk)
        if (broken_off := file.reader.interrupted(chunk)) is not None:
            self._broken_off.append((file.agent, *broken_off))
        return ran


def _result(asked: TranscriptCall, now: Instant) -> Event:
    return Event(
        kind="tool.post",
        native=TRANSCRIPT,
        agent=asked.agent,
        session=asked.session,
        lane=Lane.OBSERVE,
        at=now,
        body=ToolResult(asked.tool, ok=True),
        cwd=asked.cwd,
    )

"""Follows agents' transcripts, and reports the calls in them that no hook reported.

A call is in its transcript once it has run, and a gate was asked before that: a call that no
hook has reported half a second after its result was found has passed no gate. That a person
broke a turn off is reported at once. OpenCode's calls come from its database.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import anyio
import anyio.to_thread
import msgspec

from watchgate.agents.transcripts import READS, Reader
from watchgate.agents.usage.base import Place
from watchgate.core.clock import Clock, Instant
from watchgate.core.coverage import TRANSCRIPT
from watchgate.core.events import Event, Lane, SessionChange, ToolResult
from watchgate.core.lookback.asked import Asked
from watchgate.core.recent import Recent
from watchgate.service.coverage.database import Database
from watchgate.service.coverage.growing import first_line, read_on
from watchgate.service.usage.scan import Scan

LOOK_S = 0.5
"""Between two looks; what the first one finds is told by the second, as it may be heard of yet."""
NEWEST = 256
"""So many files are looked at each time: those that were written last."""
ROUND = 768
"""And so many of all others, in turn."""
NAMED_KEPT = 200
_FOLLOWED = {*((agent, "lines") for agent in READS), ("opencode", "rows")}


class _File(msgspec.Struct):
    """One transcript and the offset read so far; `reader` comes with its first new line."""

    path: str
    agent: str
    offset: int
    reader: Reader | None = None


class Transcripts:
    """Reads what is added to any transcript below `places`, and to those that hooks name."""

    def __init__(
        self,
        places: Sequence[Place],
        clock: Clock,
        knows: Callable[[Asked], bool],
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
        self._scan = Scan([each for each in places if (each.agent, each.form) in _FOLLOWED])
        self._databases: dict[str, Database] = {}
        self._clock = clock
        self._knows = knows
        self._say = say
        self._interrupted = interrupted
        self._broken_off: list[tuple[str, str, int]] = []
        self._since_us = clock.now().wall_us
        self._files: dict[str, _File] = {}
        self._newest: Recent[str, None] = Recent(NEWEST)
        self._turn: Iterator[str] = iter(())
        self._named: deque[tuple[str, str]] = deque(maxlen=NAMED_KEPT)
        self._looked = False

    def on_event(self, event: Event) -> None:
        """Notes the path of a session's transcript, which may lie in none of the places."""
        body = event.body
        if isinstance(body, SessionChange) and body.transcript and event.agent in READS:
            self._named.append((event.agent, body.transcript))

    async def run(self) -> None:
        """Looks until cancelled."""
        before: list[Asked] = []
        while True:
            calls = await anyio.to_thread.run_sync(self.look)
            self.tell_interruptions()
            for asked in before:
                self.tell(asked)
            before = calls
            await anyio.sleep(LOOK_S)

    def tell(self, asked: Asked) -> None:
        """Reports a call that has run, unless a hook did."""
        if not self._knows(asked):
            self._say(_result(asked, self._clock.now()))

    def tell_interruptions(self) -> None:
        """Reports the turns that were broken off, as far as the last look found any."""
        broken_off, self._broken_off = self._broken_off, []
        for agent, session, at_us in broken_off:
            self._interrupted(agent, session, at_us)

    def look(self) -> list[Asked]:
        """Returns the calls that ran since the last look; at the first one everything is old."""
        new, gone = self._scan.look(everywhere=not self._looked)
        named = [self._named.popleft() for _ in range(len(self._named))]
        for path in gone:
            self._files.pop(path, None)
            self._databases.pop(path, None)
            self._newest.pop(path, None)
        for each in new:
            if each.form == "rows":
                self._databases[each.path] = Database(each.path, self._since_us)
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
        self._files[path] = _File(path, agent, about.st_size if old else 0)
        self._newest.renew(path, None)

    def _some(self) -> list[str]:
        batch = list(islice(self._turn, ROUND))
        if not batch:
            self._turn = iter(list(self._files))
            batch = list(islice(self._turn, ROUND))
        return batch

    def _read(self, file: _File) -> list[Asked]:
        try:
            if os.lstat(file.path).st_size == file.offset:
                return []
        except (OSError, ValueError):
            return []
        if file.reader is None:
            stem = os.path.basename(file.path).rpartition(".")[0]  # noqa: PTH119 - each half second
            file.reader = Reader(file.agent, stem, self._since_us)
            if file.offset:
                file.reader.began(first_line(file.path))
        chunk, file.offset = read_on(file.path, file.offset)
        self._newest.renew(file.path, None)
        ran = file.reader.ran(chunk)
        if (broken_off := file.reader.interrupted(chunk)) is not None:
            self._broken_off.append((file.agent, *broken_off))
        return ran


def _result(asked: Asked, now: Instant) -> Event:
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

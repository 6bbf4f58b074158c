"""What the transcripts of agents say has run, at the end of each turn."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import anyio.to_thread
import msgspec

from watchgate.agents.transcripts import READS, Reader
from watchgate.core.clock import Clock, Instant
from watchgate.core.events import Event, Lane, SessionChange, Tool, ToolResult
from watchgate.core.recent import Recent
from watchgate.service.coverage.growing import read_on

NATIVE = "transcript"
SESSIONS_KEPT = 200
SETTLE_S = 0.5
"""Results that hooks tell of at the end of a turn may still be on their way."""

_ENDS = frozenset({"turn.end", "turn.error", "session.end"})
Key = tuple[str, str]


class _File(msgspec.Struct):
    """One session's transcript, and how far it was read."""

    path: str
    reader: Reader
    offset: int = 0
    cwd: str = ""


class Transcripts:
    """Follows the transcripts of the sessions that name theirs; `say` takes the events.

    `knows` says whether any hook told of a call of a session already.
    """

    def __init__(
        self, clock: Clock, knows: Callable[[str, str, str], bool], say: Callable[[Event], None]
    ) -> None:
        self._clock = clock
        self._knows = knows
        self._say = say
        self._files: Recent[Key, _File] = Recent(SESSIONS_KEPT)
        self._due: dict[Key, None] = {}
        self._woken = anyio.Event()

    def heard(self, event: Event) -> None:
        """Note where a session's transcript is, and that it is due when a turn has ended."""
        body, key = event.body, (event.agent, event.session)
        if isinstance(body, SessionChange) and body.transcript and event.agent in READS:
            known = self._files.get(key)
            if known is None or known.path != body.transcript:
                # What was said before was told to whoever listened then.
                reader = Reader(event.agent, event.at.wall_us)
                self._files[key] = _File(body.transcript, reader, cwd=event.cwd)
        if event.kind in _ENDS and key in self._files:
            self._due[key] = None
            self._woken.set()

    async def run(self) -> None:
        """Read what is due, one file at a time and off the loop."""
        while True:
            await self._woken.wait()
            self._woken = anyio.Event()
            await anyio.sleep(SETTLE_S)
            due, self._due = self._due, {}
            for key in due:
                await self.read(key)

    async def read(self, key: Key) -> None:
        """Read one session's transcript on, and tell of the calls that no hook told of."""
        file = self._files.get(key)
        if file is None:
            return
        ran = await anyio.to_thread.run_sync(_read, file)
        for tool in ran:
            if tool.call_id and not self._knows(*key, tool.call_id):
                self._say(_result(key, file.cwd, tool, self._clock.now()))


def _read(file: _File) -> list[Tool]:
    chunk, file.offset = read_on(file.path, file.offset)
    return file.reader.ran(chunk)


def _result(key: Key, cwd: str, tool: Tool, now: Instant) -> Event:
    return Event(
        kind="tool.post",
        native=NATIVE,
        agent=key[0],
        session=key[1],
        lane=Lane.OBSERVE,
        at=now,
        body=ToolResult(tool, ok=True),
        cwd=cwd,
    )

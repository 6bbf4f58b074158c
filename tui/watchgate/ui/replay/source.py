"""A recording in the place of a core: what is played comes from it, nothing goes to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Unpack

import anyio
import anyio.to_thread

from watchgate.core.clock import Instant
from watchgate.core.filters import FilterError
from watchgate.core.records import Record
from watchgate.link.client import Fields
from watchgate.link.lines import Answer
from watchgate.link.protocol import Push, Refusal, Result, Snapshot, Verb
from watchgate.ui.replay.film import Film
from watchgate.ui.replay.pictures import Pictures, taken
from watchgate.ui.replay.player import Player
from watchgate.ui.replay.searching import search

JUMP = 2_000
"""So many records on, a picture is nearer than the records up to there."""

NOT_HERE = "a replay: nothing that is asked here reaches a core"


class Recording:
    """At least one record, oldest first, as a `Source`, a `Session` and a `Clock` in one.

    It holds no connection. Whoever moves the `player` says so with `moved`.
    """

    def __init__(self, records: Sequence[Record], speed: float = 1.0) -> None:
        self.player = Player(Film(records), speed)
        self._records = records
        self._pictures = Pictures(records)
        self._sent_count = 0
        self._moved = anyio.Event()

    def now(self) -> Instant:
        """The recorded time of what is shown."""
        now_us = self.player.now_us
        return Instant(now_us, now_us / 1_000_000)

    def moved(self) -> None:
        """Show what the player stands at now."""
        if self.player.played != self._sent_count:
            self._moved.set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Recording]:
        """The recording itself is the connection."""
        yield self

    async def attach(self) -> Snapshot:
        """The picture of what was played so far."""
        return await self._picture()

    async def batch(self) -> list[Push] | Snapshot:
        """Returns the records played since the last time, or after a jump the picture there."""
        while self._sent_count == self.player.played:
            self._moved = anyio.Event()
            await self._moved.wait()
        if not 0 <= self.player.played - self._sent_count <= JUMP:
            return await self._picture()
        before, self._sent_count = self._sent_count, self.player.played
        return [Push(record=record) for record in self._records[before : self._sent_count]]

    async def call(self, verb: Verb, **fields: Unpack[Fields]) -> Answer:
        """Returns what the recording tells of itself; whatever would do something is refused."""
        if verb != "search":
            return Refusal(id=0, refused="not_offered", message=NOT_HERE)
        played, now_us = self._records[: self.player.played], self.player.now_us
        try:
            answer = await anyio.to_thread.run_sync(search, played, fields, now_us)
        except FilterError as fault:
            return Refusal(id=0, refused="bad_request", message=str(fault))
        return Result(id=0, ok=answer)

    async def _picture(self) -> Snapshot:
        played = self.player.played
        state = await self._pictures.after(played)
        self._sent_count = played
        return taken(state, self.player.now_us)

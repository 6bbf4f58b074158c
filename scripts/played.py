"""A core that has played the demo up to a moment and says nothing more: what pictures are drawn of.

Its records lie in a journal of its own, and whatever looks into the past reads them there with the
code of a running core.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Unpack

import anyio
import msgspec

from watchgate.core.filters import Filter, parse
from watchgate.core.state import State
from watchgate.core.views import GateView
from watchgate.demo.play import START_WALL_US, Decide, Player
from watchgate.link.client import Fields
from watchgate.link.lines import Answer
from watchgate.link.protocol import Presence, Push, Result, Snapshot, Verb
from watchgate.service import call_pages, history
from watchgate.service.journal.schema import open_to_write
from watchgate.service.journal.table import insert

OPERATOR = "dev"
"""Who decided in the demo, and looks at it now."""


class Played:
    """The source of a console: the demo's first `until_s` seconds, with these decisions."""

    def __init__(self, until_s: float, decide: Decide, journal: Path) -> None:
        self._now_us = START_WALL_US + round(until_s * 1e6)
        self._journal = journal
        player = Player(decide)
        self._pushes = [Push(record=record) for record in player.run(until_s)]
        self._view = _view(player)
        with closing(open_to_write(journal)) as connection:
            insert(connection, player.rows)
        self.taken = False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Played]:
        """The only connection there is."""
        yield self

    async def attach(self) -> Snapshot:
        """Nothing yet: all of it comes as records."""
        return Snapshot(seq=0, core="demo", now=self._now_us, gate=GateView())

    async def batch(self) -> list[Push]:
        """All records at once, and then silence."""
        if self.taken or not self._pushes:
            self.taken = True
            await anyio.sleep_forever()
        self.taken = True
        return self._pushes

    async def call(self, verb: Verb, **fields: Unpack[Fields]) -> Answer:
        """Search the journal; this terminal may allow; whatever else is asked is said back."""
        if verb == "presence":
            return Result(id=0, ok=msgspec.to_builtins(Presence(standing="clear")))
        if verb != "search":
            return Result(id=0, ok={"verb": verb, **fields})
        wanted = parse(fields.get("filter") or "", now_us=self._now_us)
        if fields.get("what") == "calls":
            return Result(id=0, ok=self._calls(wanted, fields))
        bounds = fields.get("from_seq"), fields.get("to_seq")
        limit = fields.get("limit", 1)
        found = history.search(self._journal, wanted, limit, *bounds, now_s=_at_once)
        return Result(id=0, ok=found)

    def _calls(self, wanted: Filter, fields: Fields) -> dict[str, Any]:
        changed_from = fields.get("from_seq")
        if changed_from is not None:
            return call_pages.changed(self._journal, wanted, changed_from, self._view)
        return call_pages.calls(
            self._journal,
            wanted,
            limit=fields.get("limit", 1),
            before=fields.get("before"),
            view=self._view,
            now_s=_at_once,
        )


def _at_once() -> float:
    """A clock by which no search takes long: where it stops depends on nothing but the journal."""
    return 0.0


def _view(player: Player) -> call_pages.View:
    state = State()
    for record in player.records:
        state.apply(record)
    return call_pages.View(
        names={key: session.label for key, session in state.sessions.items()},
        alive=frozenset(
            (row.agent, row.session, row.call)
            for row in state.rows
            if row.stage in ("pending", "running")
        ),
        me=OPERATOR,
    )

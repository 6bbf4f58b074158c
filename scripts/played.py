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

from watchgate.agents.registry import agent_titles
from watchgate.core.filters.filter_parser import Filter, parse
from watchgate.core.model.views import GateView
from watchgate.core.state.state import State
from watchgate.demo.demo_play import START_WALL_US, Decide, DemoPlayer
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import ControlAnswer
from watchgate.link.protocol import Presence, Push, Result, Snapshot, Verb
from watchgate.service.history import call_pages, record_pages
from watchgate.service.journal.journal_disk import insert_rows
from watchgate.service.journal.schema import open_to_write

OPERATOR = "dev"
"""Who decided in the demo, and looks at it now."""


class Played:
    """The source of a console: the demo's first `until_s` seconds, with these decisions."""

    def __init__(self, until_s: float, decide: Decide, journal: Path) -> None:
        self._now_us = START_WALL_US + round(until_s * 1e6)
        self._journal = journal
        player = DemoPlayer(decide)
        self._pushes = [Push(record=record) for record in player.run(until_s)]
        self._view = _view(player)
        with closing(open_to_write(journal)) as connection:
            insert_rows(connection, player.rows)
        self.taken = False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Played]:
        """The only connection there is."""
        yield self

    async def attach(self) -> Snapshot:
        """Nothing yet: all of it comes as records."""
        return Snapshot(
            seq=0, core="demo", now=self._now_us, gate=GateView(), titles=agent_titles()
        )

    async def batch(self) -> list[Push]:
        """All records at once, and then silence."""
        if self.taken or not self._pushes:
            self.taken = True
            await anyio.sleep_forever()
        self.taken = True
        return self._pushes

    async def call(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        """Searches the journal; this terminal may allow; whatever else is asked is said back."""
        if verb == "presence":
            return Result(id=0, ok=msgspec.to_builtins(Presence(standing="clear")))
        if verb != "search":
            return Result(id=0, ok={"verb": verb, **fields})
        wanted = parse(fields.get("filter") or "", now_us=self._now_us)
        if fields.get("what") == "calls":
            return Result(id=0, ok=self._calls(wanted, fields))
        bounds = fields.get("from_seq"), fields.get("to_seq")
        limit = fields.get("limit", 1)
        found = record_pages.search(self._journal, wanted, limit, *bounds, now_s=_at_once)
        return Result(id=0, ok=found)

    def _calls(self, wanted: Filter, fields: RequestFields) -> dict[str, Any]:
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


def _view(player: DemoPlayer) -> call_pages.CoreView:
    state = State()
    for record in player.records:
        state.apply(record)
    return call_pages.CoreView(
        names={key: session.label for key, session in state.sessions.items()},
        alive=frozenset(
            (row.agent, row.session, row.call)
            for row in state.rows
            if row.stage in ("pending", "running")
        ),
        me=OPERATOR,
    )

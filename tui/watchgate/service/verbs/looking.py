"""Verbs that only look: attach, lists, one request in full, and history."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio.to_thread

from watchgate.core.clock import Clock
from watchgate.core.decisions import Refused
from watchgate.core.filters import Filter, FilterError, parse
from watchgate.core.records import CoreData, Record
from watchgate.link.protocol import Hello, Request
from watchgate.service import history
from watchgate.service.hub import Hub
from watchgate.service.shown import listed, shown, snapshot
from watchgate.service.thinning import Thinning
from watchgate.service.verbs.caller import Caller, Do, named


class Looking:
    """The verbs that only look; `consoles` are the clients behind which somebody may decide."""

    def __init__(
        self, hub: Hub, clock: Clock, *, core: str, journal: Path, hello: Callable[[], Hello]
    ) -> None:
        self._hub = hub
        self._clock = clock
        self._core = core
        self._journal = journal
        self._hello_line = hello
        self.consoles: set[int] = set()

    def table(self) -> dict[str, Do]:
        """The verbs of this group."""
        return {
            "hello": self._hello,
            "attach": self._attach,
            "list": self._list,
            "show": self._show,
            "search": self._search,
            "history": self._history,
        }

    def left(self, caller: Caller) -> None:
        """A console went away."""
        self.consoles.discard(caller.number)
        self._count_consoles()

    def _count_consoles(self) -> None:
        count = len(self.consoles)
        self._hub.execute(self._hub.engine.console_count(count, self._clock.now()))

    async def _hello(self, _request: Request, _caller: Caller) -> dict[str, Any]:
        return {"hello": self._hello_line()}

    async def _attach(self, request: Request, caller: Caller) -> dict[str, Any]:
        counts = not request.observer and not caller.console
        if counts:
            caller.console = True
            # Nobody is known to sit behind what an agent may have started: the gate is unattended.
            if self._hub.askers.may_switch(caller.chain):
                self.consoles.add(caller.number)
            caller.outbox.thinning = Thinning()
            data = CoreData(what="console", name=caller.name(request.as_))
            self._hub.recorder.about_core("console.attached", data)
        state = self._hub.recorder.state
        taken = snapshot(state, core=self._core, now=self._clock.now())
        self._hub.recorder.watchers.add(caller.outbox)
        if request.from_seq is not None and request.from_seq < taken.seq:
            caller.outbox.skip(request.from_seq + 1, taken.seq)
        if counts:
            self._count_consoles()
        return {"snapshot": taken}

    async def _list(self, request: Request, _caller: Caller) -> dict[str, Any]:
        state = self._hub.recorder.state
        if request.what == "sessions":
            return {"sessions": list(state.sessions.values())}
        return {"requests": [listed(view) for view in state.by_deadline()]}

    async def _show(self, request: Request, _caller: Caller) -> dict[str, Any]:
        found = self._hub.engine.broker.find(named(request))
        return {"request": shown(found, self._hub.recorder.state.pending.get(found.id))}

    async def _search(self, request: Request, _caller: Caller) -> dict[str, Any]:
        wanted = _filter(request.filter or "")
        await self._hub.written()
        found = await anyio.to_thread.run_sync(
            history.search, self._journal, wanted, max(1, request.limit)
        )
        return {"records": found}

    async def _history(self, request: Request, _caller: Caller) -> dict[str, Any]:
        first = request.from_seq or 1
        last = request.to_seq or self._hub.recorder.state.seq
        last = min(last, first + history.PAGE - 1)
        await self._hub.written()
        found: list[Record] = await anyio.to_thread.run_sync(
            history.between, self._journal, first, last
        )
        return {"records": found}


def _filter(text: str) -> Filter:
    try:
        return parse(text)
    except FilterError as fault:
        raise Refused("bad_request", str(fault)) from None

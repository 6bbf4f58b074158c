"""Watches how long requests wait, and has somebody told; off the way of every decision."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence

import anyio
import msgspec

from watchgate.core import drafts
from watchgate.core.clock import Clock
from watchgate.core.config_escalation import EscalationConfig
from watchgate.core.escalation import Due, Escalations
from watchgate.core.records import EscalatedData, Record
from watchgate.core.requests import Request, Status
from watchgate.service.escalation.line import Line
from watchgate.service.escalation.message import message
from watchgate.service.escalation.ways import Way, way_of
from watchgate.service.hub import Hub

LOOK_S = 1.0


def escalation(
    hub: Hub,
    clock: Clock,
    entries: Sequence[EscalationConfig],
    environ: Mapping[str, str],
    *,
    home: str,
) -> EscalationWatch:
    """The escalation that a configuration asks for, on this machine."""
    ways = {entry.name: way_of(entry, environ, home) for entry in entries}
    return EscalationWatch(hub, clock, Escalations(entries), ways, host=platform.node())


class EscalationWatch:
    """One core's escalation: `ways` leads to each entry of the configuration by its name."""

    def __init__(
        self,
        hub: Hub,
        clock: Clock,
        escalations: Escalations,
        ways: Mapping[str, Way],
        *,
        host: str,
    ) -> None:
        self._hub = hub
        self._clock = clock
        self._escalations = escalations
        self._host = host
        self._lines = {name: Line(way, self) for name, way in ways.items()}
        self._asked = anyio.Event()

    async def run(self) -> None:
        """Look and tell until cancelled."""
        async with anyio.create_task_group() as tasks:
            for line in self._lines.values():
                tasks.start_soon(line.run)
            while True:
                self._asked = anyio.Event()
                self.look()
                # Time counts only while something waits; a suspended machine stops the sleep, too.
                with anyio.move_on_after(LOOK_S if self._hub.engine.broker.open else None):
                    await self._asked.wait()

    def offer(self, record: Record) -> None:
        """Take a record: what is new is looked at, and of what is settled nobody is told."""
        if record.kind == "approval.requested":
            self._asked.set()
        elif record.kind == "approval.decided":
            for line in self._lines.values():
                line.settled(record.request or "")

    def look(self) -> None:
        """Have everybody told who is due now."""
        engine = self._hub.engine
        for due in self._escalations.due(
            engine.broker.open.values(),
            attended=engine.standing.consoles > 0,
            now=self._clock.now(),
        ):
            self._lines[due.entry.name].add(due)

    @property
    def busy(self) -> bool:
        """Whether somebody is being told right now."""
        return any(line.busy for line in self._lines.values())

    def body(self, request: str) -> bytes | None:
        """The message about a request as JSON; None once it is answered."""
        found = self._hub.engine.broker.open.get(request)
        if found is None or found.status is not Status.PENDING:
            return None
        told = message(found, self._label(found), self._host, self._clock.now())
        return msgspec.json.encode(told)

    def told(self, due: Due, detail: str) -> None:
        """Record whom a request was told to, or why it could not be."""
        found = self._hub.engine.broker.get(due.request)
        if found is None:
            return
        self._hub.catch_up()
        now = self._clock.now()
        waited_s = round(now.mono_s - found.opened.mono_s, 1)
        data = EscalatedData(to=due.entry.name, waited_s=waited_s, detail=detail)
        self._hub.execute([drafts.about(found, "approval.escalated", data, now)])

    def _label(self, request: Request) -> str:
        agent, session = request.subject.agent, request.subject.session
        view = self._hub.recorder.state.session(agent, session)
        return view.label if view is not None else session

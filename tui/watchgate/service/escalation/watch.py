"""Watches how long requests wait, and notifies somebody elsewhere, who has to come and look."""

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
    """Builds the escalation that a configuration asks for, on this machine.

    Args:
        hub: The core's hub.
        clock: Source of time.
        entries: The entries of the configuration.
        environ: The core's environment, from which commands get an allowed part.
        home: The folder in which commands run.
    """
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
        """Starts without anything to send.

        Args:
            hub: The core's hub.
            clock: Source of time.
            escalations: Decides which requests are due.
            ways: The way to each entry of the configuration, by the entry's name.
            host: The name of this machine, as messages give it.
        """
        self._hub = hub
        self._clock = clock
        self._escalations = escalations
        self._host = host
        self._lines = {name: Line(way, self) for name, way in ways.items()}
        self._asked = anyio.Event()

    async def run(self) -> None:
        """Looks and notifies until cancelled."""
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
        """Takes a record: a new request is looked at, a settled one is dropped."""
        if record.kind == "approval.requested":
            self._asked.set()
        elif record.kind == "approval.decided":
            for line in self._lines.values():
                line.settled(record.request or "")

    def look(self) -> None:
        """Queues the notifications that are due now."""
        engine = self._hub.engine
        for due in self._escalations.due(
            engine.broker.open.values(),
            attended=engine.status.consoles > 0,
            now=self._clock.now(),
        ):
            self._lines[due.entry.name].add(due)

    @property
    def busy(self) -> bool:
        """Returns whether a notification is being sent right now."""
        return any(line.busy for line in self._lines.values())

    def body(self, request: str) -> bytes | None:
        """Returns the message about a request as JSON; None once it is answered."""
        request_now = self._hub.engine.broker.open.get(request)
        if request_now is None or request_now.status is not Status.PENDING:
            return None
        text = message(request_now, self._label(request_now), self._host, self._clock.now())
        return msgspec.json.encode(text)

    def notified(self, due: Due, detail: str) -> None:
        """Records the notification of a request, or why it failed."""
        request = self._hub.engine.broker.get(due.request)
        if request is None:
            return
        self._hub.catch_up()
        now = self._clock.now()
        waited_s = round(now.mono_s - request.opened.mono_s, 1)
        data = EscalatedData(to=due.entry.name, waited_s=waited_s, detail=detail)
        self._hub.execute([drafts.about(request, "approval.escalated", data, now)])

    def _label(self, request: Request) -> str:
        agent, session = request.subject.agent, request.subject.session
        view = self._hub.recorder.state.session(agent, session)
        return view.label if view is not None else session

"""Watches how long requests wait, and notifies somebody elsewhere, who has to come and look.

Sends notifications, each tried twice at most: by a command of the user, or to a server.
"""

from __future__ import annotations

import platform
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Protocol

import anyio
import msgspec

from watchgate.core.base.clock import Clock, Instant
from watchgate.core.base.text import safe_text
from watchgate.core.config.config_sections import EscalationConfig
from watchgate.core.gate import record_builders
from watchgate.core.gate.broker import DueEscalation, Escalations
from watchgate.core.model.records import EscalatedData, Record
from watchgate.core.model.requests import ApprovalRequest, Status
from watchgate.core.secrets.redact import redact
from watchgate.service.hub.hub import Hub
from watchgate.service.runners.child import ChildEnd
from watchgate.service.runners.child_pool import ChildPool
from watchgate.service.runners.spawn import ChildSpec, hook_environment
from watchgate.service.sinks.delivery import Undelivered
from watchgate.service.sinks.webhook import Webhook, WebhookTries
from watchgate.service.system.error_boundary import contain_errors

OUTPUT_BYTES = 4_096
ERROR_CHARS = 200


class Notifier(Protocol):
    """One way to send notifications."""

    async def tell(self, body: bytes) -> str:
        """Hands a message over, one try; returns why that failed, empty where it did not."""
        ...

    def close(self) -> None:
        """Lets go of whatever is held, without waiting."""
        ...


def notifier_of(entry: EscalationConfig, environ: Mapping[str, str], home: str) -> Notifier:
    """Builds the way that an entry of the configuration describes."""
    if entry.url is not None:
        return WebhookNotifier(entry.url, entry.timeout_s)
    return CommandNotifier(entry.command, hook_environment(environ), home, entry.timeout_s)


class CommandNotifier:
    """Runs a program without a shell, as the leader of a group that ends with it; 0 is success."""

    def __init__(
        self, argv: tuple[str, ...], env: dict[str, str], cwd: str, timeout_s: float
    ) -> None:
        self._argv = argv
        self._env = env
        self._cwd = cwd
        self._timeout_s = timeout_s
        self._pool = ChildPool(limit=1)

    async def tell(self, body: bytes) -> str:
        """Runs it with the message on its standard input."""
        spec = ChildSpec(
            argv=self._argv,
            cwd=self._cwd,
            env=self._env,
            stdin=body,
            stdout_cap_bytes=OUTPUT_BYTES,
            stderr_cap_bytes=OUTPUT_BYTES,
        )
        ran = await self._pool.run(spec, self._timeout_s)
        if ran.end is None or ran.end.why == "timeout":
            return f"{self._argv[0]} did not end within {self._timeout_s:g} s and was killed"
        return _fault(self._argv[0], ran.end)

    def close(self) -> None:
        """Lets its thread end."""
        self._pool.close()


class WebhookNotifier:
    """Posts the message to a server; any 2xx is success."""

    def __init__(self, url: str, timeout_s: float) -> None:
        tries = WebhookTries(pauses_s=(), request_s=timeout_s, total_s=timeout_s)
        self._hook = Webhook(url, tries)

    async def tell(self, body: bytes) -> str:
        """Posts it once."""
        try:
            await self._hook.send([body])
        except Undelivered as fault:
            return fault.why
        except anyio.get_cancelled_exc_class():
            self._hook.close()
            raise
        return ""

    def close(self) -> None:
        """Breaks off what is on its way."""
        self._hook.close()


def _fault(program: str, end: ChildEnd) -> str:
    if end.exit_code == 0:
        return ""
    outcome = end.detail or f"{program} ended by {end.signal}"
    if end.exit_code is not None:
        outcome = f"{program} ended with exit code {end.exit_code}"
    last_line = end.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return f"{outcome}: {safe_text(redact(last_line))[:ERROR_CHARS]}" if last_line else outcome


PAUSE_S = 1.0
"""Seconds from the end of the first try to the second."""

ANSWERED = "it was answered while this was on its way; whether it arrived is not known"


class OpenRequests(Protocol):
    """Knows the requests that notifications are about."""

    def body(self, request: str) -> bytes | None:
        """Returns the message about a request as it stands now; None once it needs none."""
        ...

    def notified(self, due: DueEscalation, detail: str) -> None:
        """Takes the outcome of a notification; `detail` is why it failed, or empty."""
        ...


class NotificationQueue:
    """Queues what is due for one entry, and sends it in that order."""

    def __init__(self, way: Notifier, desk: OpenRequests) -> None:
        self._way = way
        self._desk = desk
        self._waiting: deque[DueEscalation] = deque()
        self._came = anyio.Event()
        self._on_its_way: tuple[str, anyio.CancelScope] | None = None

    @property
    def busy(self) -> bool:
        """Returns whether a message is on its way, or its outcome not yet reported."""
        return self._on_its_way is not None

    def add(self, due: DueEscalation) -> None:
        """Queues one more; there are never more than open requests, as settled ones are let go."""
        self._waiting.append(due)
        self._came.set()

    def settled(self, request: str) -> None:
        """Drops the notification of a request that was answered."""
        self._waiting = deque(due for due in self._waiting if due.request != request)
        if self._on_its_way is not None and self._on_its_way[0] == request:
            self._on_its_way[1].cancel()

    async def run(self) -> None:
        """Sends until cancelled."""
        try:
            while True:
                while self._waiting:
                    await self._tell(self._waiting.popleft())
                self._came = anyio.Event()
                await self._came.wait()
        finally:
            self._way.close()

    async def _tell(self, due: DueEscalation) -> None:
        why = await self._try(due)
        if why and why != ANSWERED:
            with self._until_settled(due.request):
                await anyio.sleep(PAUSE_S)
            again = await self._try(due)
            why = why if again is None else again
        if why is not None:
            self._desk.notified(due, why)

    async def _try(self, due: DueEscalation) -> str | None:
        """Returns the reason sending failed, or ""; None where it is not needed any more."""
        body = self._desk.body(due.request)
        if body is None:
            return None
        ends = [ANSWERED]
        with (
            self._until_settled(due.request),
            contain_errors(lambda fault: ends.append(f"internal error: {fault}")),
        ):
            ends.append(await self._way.tell(body))
        return ends[-1]

    @contextmanager
    def _until_settled(self, request: str) -> Iterator[None]:
        """Runs the block, unless the request is answered meanwhile."""
        with anyio.CancelScope() as scope:
            self._on_its_way = request, scope
            yield
        self._on_its_way = None


ID_CHARS = 8
LABEL_CHARS = 60
REASON_CHARS = 200
SUMMARY_CHARS = 300


class EscalationMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One request, in plain words; secrets are covered and hidden characters visible.

    `id` is the beginning of the request's, `asks` is "approval", "question" or "plan", `left_s` how
    long it still waits and `silence` what comes then: "deny" or "handback". `text` says all of it
    in one line. Neither a digest nor a link is in it: whoever decides has to come and look.
    """

    id: str
    host: str
    agent: str
    session: str
    tool: str
    asks: str
    risk: str
    reason: str
    summary: str
    asked_at: str
    waited_s: float
    left_s: float
    silence: str
    decide_with: str
    text: str


def escalation_message(
    request: ApprovalRequest, label: str, host: str, now: Instant
) -> EscalationMessage:
    """Builds the message about an open request of the session that is called `label`."""
    data, subject = request.data, request.subject
    id = request.id[:ID_CHARS]
    waited_s = round(now.mono_s - request.opened.mono_s, 1)
    left_s = round(max(0.0, request.deadline_s - now.mono_s), 1)
    summary, session = _covered(data.summary, SUMMARY_CHARS), _covered(label, LABEL_CHARS)
    decide_with = f"watchgate show {id}"
    what = data.risk.upper() if data.asks == "approval" else data.asks.upper()
    end = "denied" if request.silence == "deny" else "handed back"
    text = (
        f"{what} {_covered(data.tool.name, LABEL_CHARS)} of {subject.agent} {session} on {host}"
        f" waits {waited_s:.0f} s, {end} in {left_s:.0f} s: {summary} (decide with: {decide_with})"
    )
    return EscalationMessage(
        id=id,
        host=host,
        agent=subject.agent,
        session=session,
        tool=_covered(data.tool.name, LABEL_CHARS),
        asks=data.asks,
        risk=data.risk,
        reason=_covered(data.reason, REASON_CHARS),
        summary=summary,
        asked_at=datetime.fromtimestamp(request.opened.wall_us / 1_000_000, UTC).isoformat(),
        waited_s=waited_s,
        left_s=left_s,
        silence=request.silence,
        decide_with=decide_with,
        text=text,
    )


def _covered(text: str, limit: int) -> str:
    """Returns one line without secrets, covered before it is cut: a part of one looks like none."""
    safe = safe_text(redact(text))
    return safe if len(safe) <= limit else f"{safe[: limit - 3]}..."


LOOK_S = 1.0


def configured_escalation(
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
    ways = {entry.name: notifier_of(entry, environ, home) for entry in entries}
    return EscalationWatch(hub, clock, Escalations(entries), ways, host=platform.node())


class EscalationWatch:
    """One core's escalation: `ways` leads to each entry of the configuration by its name."""

    def __init__(
        self,
        hub: Hub,
        clock: Clock,
        escalations: Escalations,
        ways: Mapping[str, Notifier],
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
        self._lines = {name: NotificationQueue(way, self) for name, way in ways.items()}
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
        text = escalation_message(
            request_now, self._label(request_now), self._host, self._clock.now()
        )
        return msgspec.json.encode(text)

    def notified(self, due: DueEscalation, detail: str) -> None:
        """Records the notification of a request, or why it failed."""
        request = self._hub.engine.broker.get(due.request)
        if request is None:
            return
        self._hub.catch_up()
        now = self._clock.now()
        waited_s = round(now.mono_s - request.opened.mono_s, 1)
        data = EscalatedData(to=due.entry.name, waited_s=waited_s, detail=detail)
        self._hub.execute([record_builders.about(request, "approval.escalated", data, now)])

    def _label(self, request: ApprovalRequest) -> str:
        agent, session = request.subject.agent, request.subject.session
        view = self._hub.recorder.state.session(agent, session)
        return view.label if view is not None else session

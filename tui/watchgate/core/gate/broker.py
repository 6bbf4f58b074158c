"""The approval broker: every open request gets exactly one decision.

The broker holds no clock and no descriptor. Rows AP-1 to AP-20 are tested by name.

Escalations: requests that another person is notified of, each once and never a settled one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.config.config_sections import EscalationConfig
from watchgate.core.gate.operator_decisions import (
    OperatorDecision,
    Refused,
    already_settled,
    check_decision,
)
from watchgate.core.model.assessment import Risk, severity
from watchgate.core.model.events import Event
from watchgate.core.model.records import Word
from watchgate.core.model.requests import (
    TRANSITIONS,
    ApprovalRequest,
    Input,
    Settlement,
    Status,
    Waiter,
)


class DueEscalation(msgspec.Struct, frozen=True):
    """An escalation that is due: its entry, and the request that waited so long."""

    request: str
    entry: EscalationConfig
    waited_s: float


class Escalations:
    """The entries of a configuration, and the open requests that each was used for."""

    def __init__(self, entries: Sequence[EscalationConfig]) -> None:
        self._entries = tuple(entries)
        self._notified: set[tuple[str, str]] = set()

    def due(
        self, requests: Collection[ApprovalRequest], *, attended: bool, now: Instant
    ) -> list[DueEscalation]:
        """Returns the escalations that are due, the longest wait first; each is due only once.

        `requests` are all that are open, `attended` says that a console is attached.
        """
        ids = {request.id for request in requests}
        self._notified = {pair for pair in self._notified if pair[0] in ids}
        due_now = [
            DueEscalation(request.id, entry, now.mono_s - request.opened.mono_s)
            for request in requests
            for entry in self._entries
            if self._wanted(request, entry, attended=attended, now=now)
        ]
        self._notified.update((due.request, due.entry.name) for due in due_now)
        return sorted(due_now, key=lambda due: -due.waited_s)

    def _wanted(
        self, request: ApprovalRequest, entry: EscalationConfig, *, attended: bool, now: Instant
    ) -> bool:
        return (
            request.status is Status.PENDING
            and (request.id, entry.name) not in self._notified
            and not (attended and entry.when == "unattended")
            and _rank(request.data.risk) >= severity(entry.min_risk)
            and now.mono_s - request.opened.mono_s >= entry.after_s
        )


def _rank(risk: Risk) -> int:
    """Ranks a risk; what nobody could judge counts as high."""
    return severity("high" if risk == "unknown" else risk)


SETTLED_MAX = 10_000
OPEN_MAX = 500
OPEN_BYTES = 256 * 1024 * 1024
PROCESS_MAX = 100
PROCESS_BYTES = 128 * 1024 * 1024
"""Bytes that the calls of one asking process may take of it, whatever sessions they name."""
SETTLED_BYTES = 64 * 1024 * 1024
PREFIX_MIN = 4

WORDS: dict[str, Word] = {
    "allow": "allowed-by-operator",
    "deny": "denied-by-operator",
    "handback": "handed-back-by-operator",
    "answer": "answered-by-operator",
}


class Broker:
    """Every open request, in the order in which they came, and the newest settled ones.

    As many settled ones are held as their inputs leave room for; `crowded` says when there is none
    for another open one. `margin_s` are the seconds between a deadline and the moment at which the
    hook client gives up.
    """

    def __init__(self, margin_s: float) -> None:
        self._margin_s = margin_s
        self.open: OrderedDict[str, ApprovalRequest] = OrderedDict()
        self._settled: OrderedDict[str, ApprovalRequest] = OrderedDict()
        self._open_bytes = self._settled_bytes = 0
        self._sizes: dict[str, int] = {}
        self._of_conn: dict[int, str] = {}

    @property
    def crowded(self) -> str:
        """Returns the reason no further request can be taken in; empty while one can."""
        if len(self.open) < OPEN_MAX and self._open_bytes < OPEN_BYTES:
            return ""
        return f"{len(self.open)} calls of {self._open_bytes // 1_048_576} MiB wait already"

    def crowded_for(self, event: Event) -> str:
        """Returns the reason this event may put no further request; empty while it may.

        Requests that nobody can be named for are all taken for those of one process.
        """
        if self.crowded:
            return self.crowded
        asker = _asker_pid(event)
        own = [each for each in self.open.values() if _asker_pid(each.subject) == asker]
        size_bytes = sum(self._sizes[each.id] for each in own)
        if len(own) < PROCESS_MAX and size_bytes < PROCESS_BYTES:
            return ""
        owner = "processes that cannot be named" if asker is None else f"pid {asker} and below"
        return (
            f"{len(own)} calls from {owner}, of {size_bytes // 1_048_576} MiB wait already: "
            "decide them (`watchgate ls`) or end what asks"
        )

    def add(self, request: ApprovalRequest) -> None:
        """Takes in a new request with its first waiter (AP-1)."""
        self.open[request.id] = request
        self._sizes[request.id] = _input_bytes(request)
        self._open_bytes += self._sizes[request.id]
        for waiter in request.waiters:
            self._of_conn[waiter.conn] = request.id

    def of_session(self, agent: str, session: str) -> int:
        """Returns the number of open requests of this session."""
        return sum(
            (each.subject.agent, each.subject.session) == (agent, session)
            for each in self.open.values()
        )

    def join(self, request: ApprovalRequest, waiter: Waiter, limit_s: float, now: Instant) -> bool:
        """Lets another connection of the call wait; returns whether the deadline came forward."""
        request.waiters.append(waiter)
        self._of_conn[waiter.conn] = request.id
        sooner = now.mono_s + limit_s < request.deadline_s
        if sooner:
            _move(request, now.mono_s + limit_s, now)
        return sooner

    def get(self, request_id: str) -> ApprovalRequest | None:
        """Returns the request with exactly this id, as long as it is held; else None."""
        return self.open.get(request_id) or self._settled.get(request_id)

    def of_call(self, agent: str, session: str, call: str) -> list[ApprovalRequest]:
        """Returns the open requests about one call; a rewritten call has one for each input."""
        return [
            request
            for request in self.open.values()
            if request.call == call
            and (request.subject.agent, request.subject.session) == (agent, session)
        ]

    def find(self, prefix: str) -> ApprovalRequest:
        """Returns the request with this id or unique prefix; raises `Refused` with `unknown_id`."""
        exact = self.get(prefix)
        if exact is not None:
            return exact
        if len(prefix) >= PREFIX_MIN:
            for pool in (self.open, self._settled):
                hits = [request for rid, request in pool.items() if rid.startswith(prefix)]
                if len(hits) == 1:
                    return hits[0]
                if hits:
                    raise Refused(
                        "unknown_id", f"{prefix} fits {len(hits)} requests; type more of it"
                    )
        raise Refused("unknown_id", f"no request {prefix}; see watchgate ls")

    def decide(self, prefix: str, decision: OperatorDecision, now: Instant) -> ApprovalRequest:
        """Takes an operator's decision, or raises `Refused` and changes nothing (AP-5, 6, 11)."""
        request = self.find(prefix)
        check_decision(decision, request, now)
        self.settle(
            request,
            Input.ALLOW if decision.decision == "answer" else Input(decision.decision),
            word=WORDS[decision.decision],
            by=decision.by,
            now=now,
            reason=decision.reason,
            stop=decision.stop,
            decision=decision,
        )
        return request

    def settle(
        self,
        request: ApprovalRequest,
        event: Input,
        *,
        word: Word,
        by: str,
        now: Instant,
        reason: str = "",
        stop: bool = False,
        decision: OperatorDecision | None = None,
    ) -> bool:
        """Moves the request by the table, once; returns False when it was final already.

        Args:
            request: the request.
            event: the input that moves it.
            word: the word for its end in records.
            by: the author of the end, for records.
            now: the current time.
            reason: the author's reason.
            stop: whether a denial ends the turn.
            decision: an operator's decision, of which scope, answers and process are recorded.
        """
        target = TRANSITIONS.get((request.status, event))
        if target is None:
            return False
        request.status = target
        request.settlement = Settlement(
            word=word,
            by=by,
            at=now,
            waited_s=now.mono_s - request.opened.mono_s,
            reason=reason,
            scope=decision.scope if decision else "once",
            stop=stop,
            answers=decision.answers if decision else (),
            rules=decision.rules if decision else (),
            width=decision.width if decision else None,
            actor=decision.actor if decision else None,
        )
        if target is not Status.COMMITTING:
            self._retire(request)
        return True

    def committed(self, request: ApprovalRequest) -> bool:
        """Notes that the allow is on disk.

        Returns True when it may be sent, False when the request has ended meanwhile.
        """
        if request.status is not Status.COMMITTING:
            return False
        request.status = TRANSITIONS[request.status, Input.COMMITTED]
        self._retire(request)
        return True

    def extend(self, prefix: str, seconds: float, now: Instant) -> ApprovalRequest:
        """Gives a request more time, within what every waiting client itself allows."""
        request = self.find(prefix)
        if request.status is not Status.PENDING:
            raise already_settled(request)
        if now.mono_s >= request.deadline_s:
            raise Refused("too_late", "the deadline has passed: silence has decided")
        limits = [
            waiter.event.at.mono_s + waiter.event.deadline_s - self._margin_s
            for waiter in request.waiters
            if waiter.event.deadline_s is not None
        ]
        wanted = request.deadline_s + seconds
        latest = min(limits, default=wanted)
        if latest <= request.deadline_s:
            raise Refused("too_late", "the hook client itself waits no longer than this")
        _move(request, min(wanted, latest), now)
        return request

    def of_conn(self, conn: int) -> str | None:
        """Returns the id of the request that this connection waits for; else None."""
        return self._of_conn.get(conn)

    def hung_up(self, conn: int) -> ApprovalRequest | None:
        """Removes a waiting connection; returns the request if nobody is left to answer (AP-4)."""
        request = self.open.get(self._of_conn.pop(conn, ""))
        if request is None:
            return None
        request.waiters = [waiter for waiter in request.waiters if waiter.conn != conn]
        return None if request.waiters else request

    def due(self, now: Instant) -> list[ApprovalRequest]:
        """Returns the open requests whose deadline has passed, the earliest first (AP-2, AP-9)."""
        late = [request for request in self.open.values() if request.deadline_s <= now.mono_s]
        return sorted(late, key=lambda request: request.deadline_s)

    def next_deadline(self) -> float | None:
        """Returns the earliest deadline of the open requests, in monotonic seconds."""
        return min((request.deadline_s for request in self.open.values()), default=None)

    def _retire(self, request: ApprovalRequest) -> None:
        del self.open[request.id]
        size_bytes = self._sizes.pop(request.id)
        self._open_bytes -= size_bytes
        for waiter in request.waiters:
            self._of_conn.pop(waiter.conn, None)
        self._settled[request.id] = request
        self._settled_bytes += size_bytes
        while len(self._settled) > SETTLED_MAX or self._settled_bytes > SETTLED_BYTES:
            _, oldest = self._settled.popitem(last=False)
            self._settled_bytes -= _input_bytes(oldest)


def _move(request: ApprovalRequest, deadline_s: float, now: Instant) -> None:
    request.deadline_s = deadline_s
    deadline_at = now.plus(deadline_s - now.mono_s).wall_us
    request.data = msgspec.structs.replace(request.data, deadline_at=deadline_at)


def _asker_pid(event: Event) -> int | None:
    return event.agent_pid if event.asker_pid is None else event.asker_pid


def _input_bytes(request: ApprovalRequest) -> int:
    # It can be encoded: its digest was made so.
    return len(msgspec.json.encode(request.data.tool.input))

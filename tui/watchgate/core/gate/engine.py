"""The engine of a core: events, decisions and time come in, records and answers go out.

Theory of operation. This is the whole product without its descriptors, so a detached core, a
hosted console, a test with a fake clock and a replay run the same code. Every method returns
effects, which the caller carries out in their order. Nothing here waits, reads a clock or touches
a file.

The collaborators, in the order in which a tool call meets them:

- `GateCoverage` and `CallTracker` note the event and find the call that it belongs to.
- `HandlerDispatcher` runs the user's handlers (`Bus`, `PendingDispatches`). As soon as their gates
  have an outcome it asks `rule` for the ruling: the policy judges the call as they left it.
- `RulingExecutor` carries the ruling out: it denies, hands back, sends the answer that another
  lane of the call got, or puts a request into the `Broker`.
- `Broker` is the only one that moves a request to another status, by the table in `requests`.
- `Settler` ends requests and turns each end into one reply for every connection that waits.
- `Grants` answer a request in place of an operator.
- `CallResults` compares what ran with what was decided.

An operator's allow takes three steps: `Broker.decide`, then `Engine.decided`, which records it and
orders a `SyncJournal`, then `Engine.committed` once the record is on disk. Only then is it sent. A
denial is sent at once.

What must never happen:

- An allow is sent before its record is on disk, after the deadline, or without a journal.
- A request is decided twice, or a call runs with another input than the one that was allowed.
- Handlers or a preset let through what the policy holds or denies.
- A connection that waits gets no answer, or two. Whatever fails, a gate is answered closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from watchgate.core.base.clock import Instant
from watchgate.core.config.config import Config
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import preset_of
from watchgate.core.gate import record_builders
from watchgate.core.gate.broker import Broker
from watchgate.core.gate.call_results import TURN_OVER, CallResults
from watchgate.core.gate.call_tracker import CallTracker
from watchgate.core.gate.core_status import CoreStatus
from watchgate.core.gate.effects import Effect, Send, SyncJournal
from watchgate.core.gate.gate_coverage import AgentTraits, GateCoverage
from watchgate.core.gate.grant_book import Grants
from watchgate.core.gate.handler_dispatcher import HandlerDispatcher
from watchgate.core.gate.operator_decisions import OperatorDecision
from watchgate.core.gate.pending_dispatches import EndedSessions, PendingDispatches
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.gate.raised_risk import FLOW, RETRY
from watchgate.core.gate.request_builder import answerable, check_edit, edited_request
from watchgate.core.gate.ruling_executor import RulingExecutor
from watchgate.core.gate.settler import Settler
from watchgate.core.model.actor import Actor
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Event, Tool, ToolBatch, ToolCall, ToolResult
from watchgate.core.model.records import DeadlineData, EffectData, Word
from watchgate.core.model.requests import ApprovalRequest, Input, Status
from watchgate.core.model.verdicts import Report, SayNothing
from watchgate.core.policy.rules.profiles import Profile

_CALLS = ("tool.pre", "tool.permission")
_TOO_LATE = "An operator's allow came too late to be recorded in time"


class Engine:
    """The logic of one core.

    Args:
        config: the configuration.
        gate: the policy, as the last handler of every call.
        ids: makes a new request id each time it is called.
        handlers: the user's handlers.
        traits: looks up an agent's traits by its name.
    """

    def __init__(
        self,
        config: Config,
        gate: PolicyGate,
        ids: Callable[[], str],
        handlers: Iterable[Handler] = (),
        *,
        traits: Callable[[str], AgentTraits],
    ) -> None:
        self.config = config
        self.broker = Broker(config.approval.margin_s)
        self.grants = Grants()
        self.status = CoreStatus(config, gate)
        self._gate = gate
        self._ids = ids
        self._calls = CallTracker()
        self.preset = preset_of(config.dispatch.preset, config.dispatch.total_timeout_s)
        self._bus = Bus(self.preset, handlers)
        self._pending = PendingDispatches(self._bus)
        self._ended = EndedSessions()
        self.coverage = GateCoverage(traits)
        self._call_results = CallResults(self.broker, self._calls, self.grants, self.coverage)
        self._settler = Settler(self.broker, self._calls, self.grants, config.approval.on_timeout)
        self._executor = RulingExecutor(
            self.broker,
            self._calls,
            self.grants,
            gate,
            self.status,
            self._settler,
            self.preset,
            ids,
        )
        self._dispatcher = HandlerDispatcher(
            self._pending, self.preset, gate, self.status, self._executor
        )

    def receive(self, event: Event, conn: int, now: Instant) -> list[Effect]:
        """Takes in one event; `conn` names the connection that may wait for an answer."""
        body = event.body
        if isinstance(body, ToolCall) and (event.kind in _CALLS or answerable(event)):
            return self._call(event, body.tool, conn, now)
        if isinstance(body, ToolResult):
            effects = self._call_results.on_result(event, body, now)
        else:
            self.coverage.on_event(event)
            effects = [record_builders.note(event)]
            if isinstance(body, ToolBatch):
                effects += self._call_results.on_batch_end(event, body, now)
            elif isinstance(body, ToolCall) and event.kind == "tool.permission.resolved":
                effects += self._call_results.on_resolved(event, body, now)
            elif event.kind in TURN_OVER:
                effects += self._call_results.on_turn_end(event, now)
        effects += self._dispatcher.cancel_passed(now)
        if event.kind != "session.end":
            self._ended.discard(event)
            return effects + self._dispatcher.dispatch(event, conn, None, now)
        if self._ended.add(event):
            effects += self._dispatcher.dispatch(event, conn, None, now)
            self._bus.forget(event)
            self._executor.pacing.forget(event.agent, event.session)
            self._gate.retries.forget(event.agent, event.session)
            self._gate.flow.forget(event.agent, event.session)
        elif event.lane.waits:
            effects.append(Send(conn, event, SayNothing()))
        return effects

    def ahead(self, event: Event) -> Callable[[], Assessment | None]:
        """Returns a function that judges a large call before it is received, in any thread."""
        return self._gate.ahead(event)

    def on_report(
        self, dispatch_id: int, handler: str, report: Report, now: Instant
    ) -> list[Effect]:
        """Takes a handler's report, which may end the dispatch and answer its clients."""
        return self._dispatcher.on_report(dispatch_id, handler, report, now)

    def waits_for(self, dispatch_id: int) -> list[int]:
        """Returns the connections that wait for the outcome of a dispatch."""
        return self._pending.waits_for(dispatch_id)

    def awaited(self, dispatch_id: int) -> frozenset[str]:
        """Returns the handlers of a dispatch whose reports are awaited."""
        return self._pending.awaited(dispatch_id)

    def decided(self, request: ApprovalRequest) -> list[Effect]:
        """Carries out what an operator decided through the broker."""
        paced = self._paced(request)
        if request.status is Status.COMMITTING:
            return [record_builders.decided(request), SyncJournal(request.id), *paced]
        return [record_builders.decided(request), *self._settler.answer_waiters(request), *paced]

    def edited(self, request: ApprovalRequest, args: dict[str, Any]) -> ApprovalRequest:
        """Returns the request that this one would become with another input; changes nothing.

        Raises `Refused`.
        """
        return edited_request(request, args, self._gate, self._ids())

    def edit(
        self,
        request: ApprovalRequest,
        args: dict[str, Any],
        decision: OperatorDecision,
        now: Instant,
    ) -> tuple[ApprovalRequest, list[Effect]]:
        """Allows a request with another input; returns the new request, decided, and the effects.

        Raises `Refused`, and changes nothing then.
        """
        meant = self.edited(request, args)
        checked = check_edit(decision, request, meant, now)
        effects = self._settler.replace(request, meant, decision, now)
        decided = self.broker.decide(meant.id, checked, now)
        return decided, effects + self.decided(decided)

    def _paced(self, request: ApprovalRequest) -> list[Effect]:
        """Notes what an operator decided, and pauses a session that was denied too often."""
        agent, session = request.subject.agent, request.subject.session
        if request.data.asks != "approval":
            return []
        allowed, now, data = request.status is Status.COMMITTING, request.ending.at, request.data
        rules = {each.rule for each in data.findings}
        assessment = Assessment("ask", data.risk, data.findings, data.opaque, data.segments)
        runs = allowed or request.status is Status.HANDED_BACK
        if runs and FLOW in rules:
            self._gate.flow.note_allowed(request.subject)
        if runs:
            self._gate.flow.note_run(request.subject, assessment, now)
        if request.status is Status.HANDED_BACK:
            return []
        if not allowed:
            self._gate.retries.note_denied(request.subject, assessment, now)
        pause = self._executor.pacing.count_decision(
            agent, session, allowed=allowed, retry=RETRY in rules, now=now
        )
        return [] if pause is None else [record_builders.paused(request.subject, pause)]

    def committed(self, request_id: str, ok: bool, now: Instant) -> list[Effect]:
        """Sends the allow of a request that is on disk; takes it back where that failed."""
        request = self.broker.open.get(request_id)
        if request is None:
            return []  # ended meanwhile; its end was sent and recorded when it came
        if not ok:
            return self._settler.take_back(
                request, Input.FAIL, "denied-no-journal", self.status.journal_lost, now
            )
        if now.mono_s >= request.deadline_s:
            return self._settler.take_back(
                request, Input.EXPIRE, "denied-by-timeout", _TOO_LATE, now
            )
        self.broker.committed(request)
        effects = self._settler.answer_waiters(request)
        if request.ending.scope != "once":
            effects += self._settler.give_grant(request, now)
        return effects

    def sent(self, request_id: str, delivered: bool, now: Instant) -> list[Effect]:
        """Records that the answer reached a waiting client, or did not (AP-14)."""
        request = self.broker.get(request_id)
        if request is None:
            return []  # settled so long ago that it is not kept any more
        if delivered:
            return [
                record_builders.about(
                    request, "effect.sent", EffectData(word=request.ending.word), now
                )
            ]
        return [record_builders.undelivered(request, "withdrawn", "the client was gone", now)]

    def expire(self, now: Instant) -> list[Effect]:
        """Ends every request whose deadline has passed, as its lane says (AP-2).

        Handlers whose time is up have failed.
        """
        effects = self._dispatcher.expire(now) + self.grants.expire(now)
        for request in self.broker.due(now):
            if request.status is Status.COMMITTING:
                effects += self._settler.take_back(
                    request, Input.EXPIRE, "denied-by-timeout", _TOO_LATE, now
                )
                continue
            passed = DeadlineData(deadline_at=request.data.deadline_at)
            effects.append(record_builders.about(request, "approval.timeout", passed, now))
            effects += self._settler.end_undecided(
                request, Input.EXPIRE, "denied-by-timeout", "nobody", now
            )
        return effects

    def hung_up(self, conn: int, now: Instant) -> list[Effect]:
        """Ends what a client waited for whose connection ended (AP-4, CORE-9)."""
        left = self._dispatcher.drop_connection(conn, "withdrawn", "", now)
        if left is not None:
            return left
        request = self.broker.hung_up(conn)
        if request is None:
            return []
        if request.status is Status.COMMITTING:
            return self._settler.take_back(request, Input.HANGUP, "withdrawn", "", now)
        return self._settler.end_undecided(request, Input.HANGUP, "withdrawn", "the agent", now)

    def failed(self, conn: int, reason: str, now: Instant) -> list[Effect]:
        """Ends what a connection waited for that was answered closed for a fault of ours."""
        left = self._dispatcher.drop_connection(conn, "denied-failure", reason, now)
        if left is not None:
            return left
        request = self.broker.open.get(self.broker.of_conn(conn) or "")
        if request is None:
            return []
        if len(request.waiters) > 1:
            self.broker.hung_up(conn)  # the others still wait for an answer
            return []
        if request.status is Status.COMMITTING:
            return self._settler.take_back(request, Input.FAIL, "denied-failure", reason, now)
        return self._settler.end_undecided(
            request, Input.FAIL, "denied-failure", "watchgate", now, reason
        )

    def extended(
        self, request: ApprovalRequest, by: str, now: Instant, actor: Actor | None = None
    ) -> list[Effect]:
        """Records that a request was given more time."""
        return [record_builders.extended(request, by, now, actor)]

    def close_all(self, word: Word, reason: str, now: Instant) -> list[Effect]:
        """Answers every open request closed: the core stops, or loses its journal."""
        effects = self._dispatcher.close_all(word, reason, now)
        for request in list(self.broker.open.values()):
            if request.status is Status.COMMITTING:
                effects += self._settler.take_back(request, Input.FAIL, word, reason, now)
            else:
                effects += self._settler.end_undecided(
                    request, Input.FAIL, word, "watchgate", now, reason
                )
        return effects

    def console_count(self, count: int, now: Instant) -> list[Effect]:
        """Notes the number of attached consoles.

        Without any, `unattended = "deny"` ends the requests that wait (AP-3).
        """
        self.status.consoles = count
        if count or self.config.approval.unattended != "deny":
            return []
        waiting = [r for r in self.broker.open.values() if r.status is Status.PENDING]
        return [
            e
            for r in waiting
            for e in self._settler.end_unattended(r, "the last console left", now)
        ]

    @property
    def profile(self) -> Profile:
        """Returns the profile in force."""
        return self._gate.profile

    @profile.setter
    def profile(self, profile: Profile) -> None:
        self._gate.profile = profile

    def next_deadline(self) -> float | None:
        """Returns the monotonic time at which `expire` has to be called next."""
        due = (
            self.broker.next_deadline(),
            self._pending.next_deadline(),
            self.grants.next_deadline(),
        )
        return min((each for each in due if each is not None), default=None)

    def _call(self, event: Event, tool: Tool, conn: int, now: Instant) -> list[Effect]:
        self.coverage.on_event(event, tool)
        call = self._calls.begin(event, tool)
        if not event.lane.waits:
            assessment = self._gate.assess(event)
            if assessment is not None:
                self._gate.flow.note_run(event, assessment, now)
            recorded = record_builders.called(event, tool, call, "recorded", assessment)
            return [recorded, *self._dispatcher.dispatch(event, conn, call, now)]
        if not self._bus.gated(event.kind):
            settled = self._executor.answer_from_other_lane(event, call, conn, now)
            if settled is not None:
                return settled
        return self._dispatcher.dispatch(event, conn, call, now)

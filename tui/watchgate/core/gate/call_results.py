"""Compares the later events of a call with its decision, and ends requests that came too late."""

from __future__ import annotations

from watchgate.core.base.clock import Instant
from watchgate.core.gate import denial_text, record_builders
from watchgate.core.gate.broker import Broker
from watchgate.core.gate.call_tracker import CallTracker, TrackedCall
from watchgate.core.gate.effects import Effect, Send
from watchgate.core.gate.gate_coverage import GateCoverage
from watchgate.core.gate.grant_book import Grants
from watchgate.core.model.events import Event, Text, Tool, ToolBatch, ToolCall, ToolResult
from watchgate.core.model.requests import ApprovalRequest, Input, Status
from watchgate.core.tools.summary import summary

TURN_OVER = frozenset(
    {"turn.end", "turn.interrupt", "turn.error", "prompt.submit", "agent.stop", "session.end"}
)


def _altered(call: TrackedCall, body: ToolResult) -> bool:
    """Returns whether another input ran than was decided on; a question comes back with answers."""
    asked = call.tool.cls in ("question", "plan")
    return not asked and call.tool.input_hash != body.tool.input_hash


class CallResults:
    """Follows decided calls to their end."""

    def __init__(
        self, broker: Broker, calls: CallTracker, grants: Grants, coverage: GateCoverage
    ) -> None:
        self._broker = broker
        self._calls = calls
        self._grants = grants
        self._coverage = coverage

    def on_result(self, event: Event, body: ToolResult, now: Instant) -> list[Effect]:
        """Handles a result: compares what ran with the decision on the call."""
        self._coverage.ended(event, body.tool)
        again = self._calls.find_ended(event, body.tool)
        if again is not None and again.ran:
            return [record_builders.ended(event, body, again)]
        call = again or self._calls.end(event, body.tool)
        if call is not None:
            call.ran = True
        effects: list[Effect] = [record_builders.ended(event, body, call)]
        watched = call is not None and not (call.waited or event.numbering)
        if not (watched or body.interrupted or (call is not None and call.passed)):
            effects += self._ungated(event, body.tool, call)
        if call is None:
            return effects
        effects += self._answered_elsewhere(call, event, now)
        if call.decided == "deny" and not body.interrupted:
            effects.append(
                record_builders.effect(event, call, summary(body.tool), "DENIED BUT RAN")
            )
        elif call.decided == "allow" and not event.numbering and _altered(call, body):
            effects.append(record_builders.effect(event, call, summary(body.tool), "RAN ALTERED"))
        elif call.decided == "allow":
            effects.append(
                record_builders.effect(event, call, f"ran as {call.changed or 'approved'}")
            )
        return effects

    def on_batch_end(self, event: Event, body: ToolBatch, now: Instant) -> list[Effect]:
        """Handles the end of a batch of calls: those that are still open did not run."""
        over = [self._calls.end(event, tool) for tool in body.tools]
        return [e for call in over if call is not None for e in self._not_run(call, event, now)]

    def on_resolved(self, event: Event, body: ToolCall, now: Instant) -> list[Effect]:
        """Handles the agent's own decision on a call: allowed it goes on, else it is over.

        An agent that waits for a gate has not come to that call, whatever an equal one got.
        """
        if body.allowed:
            call = self._calls.find_open(event, body.tool)
            waiting = [] if call is None else self._waiting(call)
            asked = [each for each in waiting if each.silence != "deny"]
            return [effect for each in asked for effect in self._let_go(each, event, now)]
        call = self._calls.end(event, body.tool)
        if call is None:
            return []
        effects = self._not_run(call, event, now)
        if call.decided in ("allow", "handback"):
            effects.append(record_builders.refused(event, call, body.why))
        return effects

    def on_turn_end(self, event: Event, now: Instant) -> list[Effect]:
        """Handles the end of a turn or session: ends its relay requests and its turn grants.

        A gate's request stays: its client waits, and an agent that waits is not past the call.
        """
        if _goes_on(event):
            return []
        session_over = event.kind == "session.end" and event.sub is None
        effects: list[Effect] = []
        for call in self._calls.of_session(event.agent, event.session):
            held = any(request.silence == "deny" for request in self._waiting(call))
            gate_waits = held or call.open_dispatches > 0
            if session_over or (call.sub == event.sub_id and not gate_waits):
                self._calls.drop(call)
                effects += self._not_run(call, event, now)
                if _began(call, event) and not call.waited:
                    effects += self._ungated(event, call.tool, call)
        if session_over:
            self._coverage.over(event)
            effects += self._grants.end_session(event.agent, event.session, now)
        elif event.sub is None:
            effects += self._grants.end_turn(event.agent, event.session, now)
        return effects

    def _ungated(self, event: Event, tool: Tool, call: TrackedCall | None) -> list[Effect]:
        """Records that a call ran, or began to, and no gate was asked or answered in time."""
        others = self._calls.open_or_ended(event.agent, event.session)
        effects: list[Effect] = []
        ungated = self._coverage.ran(event, tool, call, others)
        if ungated is not None:
            effects.append(record_builders.ungated(event, tool, call, ungated))
        session = self._coverage.not_gated(event)
        if session is not None:
            effects.append(record_builders.not_gated(event, session))
        return effects

    def _not_run(self, call: TrackedCall, event: Event, now: Instant) -> list[Effect]:
        effects = self._answered_elsewhere(call, event, now)
        if call.decided == "deny":
            effects.append(record_builders.effect(event, call, "no sign that it ran"))
        return effects

    def _answered_elsewhere(self, call: TrackedCall, event: Event, now: Instant) -> list[Effect]:
        """Ends the requests of a call that the agent is past (AP-7).

        A gate that waits is denied.
        """
        waiting = self._waiting(call)
        return [effect for each in waiting for effect in self._let_go(each, event, now)]

    def _waiting(self, call: TrackedCall) -> list[ApprovalRequest]:
        return self._broker.of_call(call.agent, call.session, call.ref)

    def _let_go(self, request: ApprovalRequest, event: Event, now: Instant) -> list[Effect]:
        decided_before = request.status is Status.COMMITTING
        by = _teller(event, request)
        self._broker.settle(request, Input.ELSEWHERE, word="answered-elsewhere", by=by, now=now)
        text = denial_text.denial(
            "answered-elsewhere", request=request.id, reason="answered elsewhere"
        )
        return [
            record_builders.undelivered(
                request, "answered-elsewhere", "the agent went on before", now
            )
            if decided_before
            else record_builders.decided(request),
            *(Send(each.conn, each.event, each.undecided(text)) for each in request.waiters),
        ]


def _teller(event: Event, request: ApprovalRequest) -> str:
    """Returns the name, in words, of the sender that says a call was decided elsewhere.

    Any process can send such an event.
    """
    pid = event.teller_pid
    if pid is None:
        return "a sender that is not known"
    return "the agent" if pid == request.data.agent_pid else f"pid {pid}, not the agent that asked"


def _began(call: TrackedCall, event: Event) -> bool:
    """Returns whether the stream that sent this event reported the call when it began to run."""
    return bool(event.numbering) and any(each == event.numbering for each, _ in call.ids)


def _goes_on(event: Event) -> bool:
    """Returns whether the turn goes on after an event that looks like its end.

    Qwen Code submits an empty prompt after each tool result; and of a sub-agent that is not named,
    nothing tells which calls were its own.
    """
    if event.kind == "agent.stop":
        return event.sub is None
    body = event.body
    return event.kind == "prompt.submit" and isinstance(body, Text) and not body.text.strip()

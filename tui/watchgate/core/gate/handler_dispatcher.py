"""Runs the handlers of an event, and answers the clients that wait for their outcome.

This file knows which clients share a dispatch, the reply to an event that is no call, the trace,
and the end before the time. What follows for a call is ruled in `ruling` and carried out by the
`RulingExecutor`.
"""

from __future__ import annotations

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.presets import DispatchPolicy
from watchgate.core.gate import denial_text, record_builders
from watchgate.core.gate.call_tracker import TrackedCall
from watchgate.core.gate.core_status import CoreStatus
from watchgate.core.gate.effects import Effect, Send
from watchgate.core.gate.pending_dispatches import PendingDispatch, PendingDispatches
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.gate.ruling import only_viewed, rule
from watchgate.core.gate.ruling_executor import RulingExecutor
from watchgate.core.model.events import Event
from watchgate.core.model.records import Gate, Word
from watchgate.core.model.requests import Waiter
from watchgate.core.model.verdicts import Outcome, Reply, Report, SayDeny, SayNothing

_WENT_ON = "the agent went on before"


class HandlerDispatcher:
    """Dispatches events to the handlers of one core.

    Args:
        pending: the dispatches under way.
        preset: the dispatch policy of the user's handlers.
        gate: the policy, as the last handler of every call.
        status: the consoles attached, and the time that a client leaves.
        executor: carries out the ruling on a call.
    """

    def __init__(
        self,
        pending: PendingDispatches,
        preset: DispatchPolicy,
        gate: PolicyGate,
        status: CoreStatus,
        executor: RulingExecutor,
    ) -> None:
        self._pending = pending
        self._preset = preset
        self._gate = gate
        self._status = status
        self._executor = executor

    def dispatch(
        self, event: Event, conn: int, call: TrackedCall | None, now: Instant
    ) -> list[Effect]:
        """Runs the handlers of an event; answers as soon as its gates have an outcome."""
        if not event.lane.waits and not self._pending.bus.hears(event.kind):
            return []  # almost every event of a core without handlers
        pending = None if call is None else self._pending.of_call(call, event.kind)
        limit_s = self._status.dispatch_limit_s(event)
        if pending is not None and event.lane.waits:
            pending.waiters.append((conn, event))
            pending.dispatch.hurry(now.mono_s + limit_s)
            return []
        started = self._pending.start(event, conn, call, limit_s, now)
        if isinstance(started, Outcome):
            return self._answer_at_once(event, conn, call, started, now)
        if call is not None and started.waiters:
            call.open_dispatches += 1
        return self._advance(started, self._pending.begin(started, now), now)

    def on_report(self, number: int, handler: str, report: Report, now: Instant) -> list[Effect]:
        """Takes a handler's report."""
        pending, asks = self._pending.on_report(number, handler, report, now)
        return [] if pending is None else self._advance(pending, asks, now)

    def expire(self, now: Instant) -> list[Effect]:
        """Fails the handlers whose time is up."""
        effects: list[Effect] = []
        for pending, asks in self._pending.expire(now):
            effects += self._advance(pending, asks, now)
        return effects

    def drop_connection(
        self, conn: int, word: Word, reason: str, now: Instant
    ) -> list[Effect] | None:
        """Removes a connection that waits no longer; `word` is the word for that end.

        Cancels the dispatch for which only it waited; returns None where there is no such dispatch.
        """
        last = self._pending.remove_waiter(conn)
        return None if last is None else self._cancel(last[0], word, reason, now, gone=last[1])

    def cancel_passed(self, now: Instant) -> list[Effect]:
        """Cancels the dispatches of calls that the agent has already got past (AP-7)."""
        under_way = self._pending.all()
        if not under_way:
            return []  # after almost every event
        over = [e for e in under_way if e.waiters and not e.concluded and _call_is_over(e)]
        return [e for each in over for e in self._cancel(each, "answered-elsewhere", _WENT_ON, now)]

    def close_all(self, word: Word, reason: str, now: Instant) -> list[Effect]:
        """Cancels every dispatch that has no outcome yet."""
        waited_for = [each for each in self._pending.all() if not each.concluded]
        return [e for each in waited_for for e in self._cancel(each, word, reason, now)]

    def _advance(
        self, pending: PendingDispatch, effects: list[Effect], now: Instant
    ) -> list[Effect]:
        """Concludes a dispatch that has an outcome; records the trace of one that is over."""
        dispatch, outcome = pending.dispatch, pending.dispatch.outcome
        if outcome is None:
            return effects
        if not pending.concluded:
            _conclude(pending)
            pending.took_ms = round((now.mono_s - dispatch.began.mono_s) * 1000, 3)
            effects = effects + self._answer_all(pending, outcome, now)
        if dispatch.over:
            self._pending.close(pending)
            effects = [*effects, self._dispatch_trace(pending, outcome)]
        return effects

    def _answer_all(self, pending: PendingDispatch, outcome: Outcome, now: Instant) -> list[Effect]:
        """Answers every client that waits for a dispatch, each for the event that it sent."""
        effects: list[Effect] = []
        for conn, event in pending.waiters:
            if pending.call is None or event.tool is None:
                effects.append(Send(conn, event, self._event_reply(event, outcome)))
                continue
            ruling = rule(event, outcome, self._preset, self._gate, pending.took_ms)
            pending.ruling = pending.ruling or ruling
            effects += self._executor.execute(event, conn, pending.call, ruling, [], now)
        return effects

    def _answer_at_once(
        self, event: Event, conn: int, call: TrackedCall | None, outcome: Outcome, now: Instant
    ) -> list[Effect]:
        """Answers an event for which no handler had to be run.

        Args:
            event: the event as its agent sent it.
            conn: the connection that it came over.
            call: the call that it belongs to, if any.
            outcome: the outcome of a chain in which no handler ran.
            now: the current time.
        """
        if call is not None and event.tool is not None and event.lane.waits:
            ruling = rule(event, outcome, self._preset, self._gate)
            traces: list[Effect] = [self._trace_record(event, call, ruling.outcome)]
            return self._executor.execute(event, conn, call, ruling, traces, now)
        traces = [self._trace_record(event, call, outcome)] if outcome.trace else []
        if event.lane.waits:
            traces.append(Send(conn, event, self._event_reply(event, outcome)))
        return traces

    def _event_reply(self, event: Event, outcome: Outcome) -> Reply:
        """Returns the reply to an event that is no call: only a gate's denial stops anything."""
        context = self._preset.joined_by.join(outcome.injections)
        if outcome.effect == "view" or self._gate.profile == "watch" or not event.can.deny:
            return SayNothing(context)
        if outcome.decision == "deny":
            word: Word = "denied-failure" if outcome.failed else "denied-by-rule"
            hook = outcome.decided_by or ""
            text = denial_text.denial(word, reason=outcome.reason, what="prompt", hook=hook)
            return SayDeny(text)
        if outcome.decision == "confirm":
            return SayDeny(denial_text.unasked_prompt_reason(outcome.decided_by, outcome.reason))
        if outcome.input is not None:
            return SayDeny(denial_text.rewritten_prompt_reason(outcome.rewritten_by, event.agent))
        return SayNothing(context)

    def _dispatch_trace(self, pending: PendingDispatch, outcome: Outcome) -> Effect:
        rows, ruling = pending.dispatch.trace(), pending.ruling
        if ruling is None:
            whole = msgspec.structs.replace(outcome, trace=rows)
        else:
            handler_rows = rows if ruling.counted else only_viewed(rows)
            whole = msgspec.structs.replace(ruling.outcome, trace=(*handler_rows, ruling.policy))
        return self._trace_record(pending.event, pending.call, whole, pending.took_ms)

    def _trace_record(
        self, event: Event, call: TrackedCall | None, outcome: Outcome, took_ms: float = 0.0
    ) -> Effect:
        return record_builders.traced(event, call, outcome, self._preset.name, took_ms)

    def _cancel(
        self,
        pending: PendingDispatch,
        word: Word,
        reason: str,
        now: Instant,
        gone: Event | None = None,
    ) -> list[Effect]:
        """Ends a dispatch without its outcome; each client gets what silence means on its lane.

        Args:
            pending: the dispatch.
            word: the word for this end.
            reason: the reason, for the agent and the record.
            now: the current time.
            gone: the event of a connection that has been answered already, or left by itself.
        """
        effects = self._pending.cancel(pending, now)
        _conclude(pending)
        self._pending.close(pending)
        text = denial_text.denial(word, reason=reason)
        waiting = [Waiter(n, each, self._status.silence(each)) for n, each in pending.waiters]
        gates: list[tuple[Event, Gate]] = [
            (each.event, "denied" if each.silence == "deny" else "handback") for each in waiting
        ]
        if gone is not None:
            closed: Gate = "denied" if self._status.silence(gone) == "deny" else "handback"
            gates.append((gone, "withdrawn" if word == "withdrawn" else closed))
        denied = any(gate == "denied" for _, gate in gates)
        if pending.call is not None:
            if any(gate != "withdrawn" for _, gate in gates):
                pending.call.decided = "deny" if denied else "handback"
            effects += self._call_records(pending.call, gates, word, reason)
        effects += [Send(each.conn, each.event, each.undecided(text)) for each in waiting]
        outcome = pending.dispatch.outcome
        if outcome is not None:
            cut_outcome = outcome if denied else msgspec.structs.replace(outcome, decision="none")
            effects.append(self._dispatch_trace(pending, cut_outcome))
        return effects

    def _call_records(
        self, call: TrackedCall, gates: list[tuple[Event, Gate]], word: Word, reason: str
    ) -> list[Effect]:
        """Returns the records of a call whose dispatch was cancelled, one for each connection."""
        return [
            record_builders.called(
                event,
                event.tool,
                call,
                gate,
                self._gate.assess(event),
                "handed-back" if gate == "handback" else word,
                (word, reason),
            )
            for event, gate in gates
            if event.tool is not None
        ]


def _call_is_over(pending: PendingDispatch) -> bool:
    return pending.call is not None and pending.call.over


def _conclude(pending: PendingDispatch) -> None:
    """Marks a dispatch as one that nobody waits for any more."""
    pending.concluded = True
    if pending.call is not None and pending.event.lane.waits:
        pending.call.open_dispatches -= 1

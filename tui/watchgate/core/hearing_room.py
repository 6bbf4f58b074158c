"""Where the handlers of an event are heard, and whoever waits for it is answered.

The engine says what follows for a call once its handlers have spoken; everything else about a
hearing is here: who shares it, what is told about an event that is no call, its trace, its end
before the time.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from watchgate.core import drafts, wording
from watchgate.core.calls import Call
from watchgate.core.clock import Instant
from watchgate.core.effects import Effect, Send
from watchgate.core.events import Event
from watchgate.core.hearings import Hearing, Hearings
from watchgate.core.policy.gate import PolicyGate
from watchgate.core.presets import DispatchPolicy
from watchgate.core.records import Gate, Word
from watchgate.core.requests import Waiter
from watchgate.core.ruling import Ruling, only_viewed, rule
from watchgate.core.standing import Standing
from watchgate.core.verdicts import Outcome, Reply, Report, SayDeny, SayNothing

_PAST = "the agent went on before"


class Decide(Protocol):
    """What follows for a call on one connection from what was ruled."""

    def __call__(
        self,
        event: Event,
        conn: int,
        call: Call,
        ruling: Ruling,
        traces: list[Effect],
        now: Instant,
    ) -> list[Effect]:
        """The effects; `traces` go after the call's own record."""
        ...


class HearingRoom:
    """The hearings of one core."""

    def __init__(
        self,
        hearings: Hearings,
        preset: DispatchPolicy,
        gate: PolicyGate,
        standing: Standing,
        decide: Decide,
    ) -> None:
        self._hearings = hearings
        self._preset = preset
        self._gate = gate
        self._standing = standing
        self._decide = decide

    def hear(self, event: Event, conn: int, call: Call | None, now: Instant) -> list[Effect]:
        """Ask the handlers of an event, and answer when the gates among them are through."""
        if not event.lane.waits and not self._hearings.bus.hears(event.kind):
            return []  # almost every event of a core without handlers
        hearing = None if call is None else self._hearings.of_call(call, event.kind)
        limit_s = self._standing.hearing_s(event)
        if hearing is not None and event.lane.waits:
            hearing.waiters.append((conn, event))
            hearing.dispatch.hurry(now.mono_s + limit_s)
            return []
        started = self._hearings.start(event, conn, call, limit_s, now)
        if isinstance(started, Outcome):
            return self._at_once(event, conn, call, started, now)
        if call is not None and started.waiters:
            call.heard += 1
        return self._go_on(started, self._hearings.begin(started, now), now)

    def heard(self, number: int, handler: str, report: Report, now: Instant) -> list[Effect]:
        """Take what a handler said."""
        hearing, asks = self._hearings.heard(number, handler, report, now)
        return [] if hearing is None else self._go_on(hearing, asks, now)

    def expire(self, now: Instant) -> list[Effect]:
        """Fail the handlers whose time is up."""
        effects: list[Effect] = []
        for hearing, asks in self._hearings.expire(now):
            effects += self._go_on(hearing, asks, now)
        return effects

    def left(self, conn: int, word: Word, reason: str, now: Instant) -> list[Effect] | None:
        """The end of the hearing for which only this connection waited; None without one."""
        found = self._hearings.left_by(conn)
        return None if found is None else self._cut(found[0], word, reason, now, gone=found[1])

    def past(self, now: Instant) -> list[Effect]:
        """End the hearings of calls that the agent is past: nobody is asked about those (AP-7)."""
        heard = self._hearings.all()
        if not heard:
            return []  # after almost every event
        over = [e for e in heard if e.waiters and not e.concluded and _over(e)]
        return [e for each in over for e in self._cut(each, "answered-elsewhere", _PAST, now)]

    def close_all(self, word: Word, reason: str, now: Instant) -> list[Effect]:
        """End whatever is being heard and is not decided yet."""
        waited_for = [each for each in self._hearings.all() if not each.concluded]
        return [e for each in waited_for for e in self._cut(each, word, reason, now)]

    def _go_on(self, hearing: Hearing, effects: list[Effect], now: Instant) -> list[Effect]:
        """Conclude a hearing that has an outcome; trace one that is over."""
        dispatch, outcome = hearing.dispatch, hearing.dispatch.outcome
        if outcome is None:
            return effects
        if not hearing.concluded:
            _conclude(hearing)
            hearing.took_ms = round((now.mono_s - dispatch.began.mono_s) * 1000, 3)
            effects = effects + self._answer_all(hearing, outcome, now)
        if dispatch.over:
            self._hearings.close(hearing)
            effects = [*effects, self._trace(hearing, outcome)]
        return effects

    def _answer_all(self, hearing: Hearing, outcome: Outcome, now: Instant) -> list[Effect]:
        """Answer everybody who waits for the hearing, each for the event that it sent."""
        effects: list[Effect] = []
        for conn, event in hearing.waiters:
            if hearing.call is None or event.tool is None:
                effects.append(Send(conn, event, self._said(event, outcome)))
                continue
            ruling = rule(event, outcome, self._preset, self._gate, hearing.took_ms)
            hearing.ruling = hearing.ruling or ruling
            effects += self._decide(event, conn, hearing.call, ruling, [], now)
        return effects

    def _at_once(
        self, event: Event, conn: int, call: Call | None, outcome: Outcome, now: Instant
    ) -> list[Effect]:
        """What follows where nobody had to be heard."""
        if call is not None and event.tool is not None and event.lane.waits:
            ruling = rule(event, outcome, self._preset, self._gate)
            traces: list[Effect] = [self._traced(event, call, ruling.outcome)]
            return self._decide(event, conn, call, ruling, traces, now)
        traces = [self._traced(event, call, outcome)] if outcome.trace else []
        if event.lane.waits:
            traces.append(Send(conn, event, self._said(event, outcome)))
        return traces

    def _said(self, event: Event, outcome: Outcome) -> Reply:
        """What is told about an event that is no call: only a gate's denial stops anything."""
        context = self._preset.joined_by.join(outcome.injections)
        if outcome.effect == "view" or self._gate.profile == "watch" or not event.can.deny:
            return SayNothing(context)
        if outcome.decision == "deny":
            word: Word = "denied-failure" if outcome.failed else "denied-by-rule"
            hook = outcome.decided_by or ""
            said = wording.denial(word, reason=outcome.reason, what="prompt", hook=hook)
            return SayDeny(said)
        if outcome.decision == "confirm":
            return SayDeny(wording.unasked_prompt(outcome.decided_by, outcome.reason))
        if outcome.input is not None:
            return SayDeny(wording.untold_prompt(outcome.rewritten_by, event.agent))
        return SayNothing(context)

    def _trace(self, hearing: Hearing, outcome: Outcome) -> Effect:
        rows, ruling = hearing.dispatch.trace(), hearing.ruling
        if ruling is None:
            whole = msgspec.structs.replace(outcome, trace=rows)
        else:
            heard = rows if ruling.counted else only_viewed(rows)
            whole = msgspec.structs.replace(ruling.outcome, trace=(*heard, ruling.policy))
        return self._traced(hearing.event, hearing.call, whole, hearing.took_ms)

    def _traced(
        self, event: Event, call: Call | None, outcome: Outcome, took_ms: float = 0.0
    ) -> Effect:
        return drafts.traced(event, call, outcome, self._preset.name, took_ms)

    def _cut(
        self, hearing: Hearing, word: Word, reason: str, now: Instant, gone: Event | None = None
    ) -> list[Effect]:
        """End a hearing without its outcome, as silence has it for each that still waits.

        `gone` is what the last connection sent, which was told what `word` says or left by itself.
        """
        effects = self._hearings.cut(hearing, now)
        _conclude(hearing)
        self._hearings.close(hearing)
        text = wording.denial(word, reason=reason)
        waiting = [Waiter(n, each, self._standing.silence(each)) for n, each in hearing.waiters]
        told: list[tuple[Event, Gate]] = [
            (each.event, "denied" if each.silence == "deny" else "handback") for each in waiting
        ]
        if gone is not None:
            closed: Gate = "denied" if self._standing.silence(gone) == "deny" else "handback"
            told.append((gone, "withdrawn" if word == "withdrawn" else closed))
        denied = any(gate == "denied" for _, gate in told)
        if hearing.call is not None:
            if any(gate != "withdrawn" for _, gate in told):
                hearing.call.decided = "deny" if denied else "handback"
            effects += self._told(hearing.call, told, word, reason)
        effects += [Send(each.conn, each.event, each.undecided(text)) for each in waiting]
        outcome = hearing.dispatch.outcome
        if outcome is not None:
            kept = outcome if denied else msgspec.structs.replace(outcome, decision="none")
            effects.append(self._trace(hearing, kept))
        return effects

    def _told(
        self, call: Call, told: list[tuple[Event, Gate]], word: Word, reason: str
    ) -> list[Effect]:
        """The record of a call that was not heard to the end, on each of its connections."""
        return [
            drafts.called(
                event,
                event.tool,
                call,
                gate,
                self._gate.assess(event),
                "handed-back" if gate == "handback" else word,
                (word, reason),
            )
            for event, gate in told
            if event.tool is not None
        ]


def _over(hearing: Hearing) -> bool:
    return hearing.call is not None and hearing.call.over


def _conclude(hearing: Hearing) -> None:
    """Nobody waits for this hearing any more."""
    hearing.concluded = True
    if hearing.call is not None and hearing.event.lane.waits:
        hearing.call.heard -= 1

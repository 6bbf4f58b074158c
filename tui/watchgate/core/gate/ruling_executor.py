"""Carries out rulings on calls: a denial, a handback, an allow, or a request to an operator."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.presets import DispatchPolicy
from watchgate.core.dispatch.verdict_rules import POLICY
from watchgate.core.gate import denial_text, record_builders
from watchgate.core.gate.broker import Broker
from watchgate.core.gate.call_tracker import CallTracker, TrackedCall
from watchgate.core.gate.core_status import CoreStatus
from watchgate.core.gate.effects import Effect, Send
from watchgate.core.gate.grant_book import Grants
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.gate.raised_risk import why_raised
from watchgate.core.gate.rate_limit import RateLimiter, SessionPause
from watchgate.core.gate.request_builder import build_request
from watchgate.core.gate.ruling import Ruling
from watchgate.core.gate.settler import Settler, reply_for
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Event, Tool
from watchgate.core.model.records import Gate, Silence, Word
from watchgate.core.model.requests import ApprovalRequest, Waiter
from watchgate.core.model.standing_grant import Grant
from watchgate.core.model.verdicts import Outcome, Reply, SayAllow, SayDeny, SayNothing
from watchgate.core.tools.tool_input import input_hash


class RulingExecutor:
    """Carries out rulings on calls; `pacing` counts the requests of each session.

    Args:
        broker: the open requests.
        calls: the open calls of every session.
        grants: the standing grants.
        gate: the policy, as the last handler of every call.
        status: the consoles attached, and how long an operator may be waited for.
        settler: ends requests and answers the clients that wait for them.
        preset: the dispatch policy of the user's handlers.
        ids: makes a new request id.
    """

    def __init__(
        self,
        broker: Broker,
        calls: CallTracker,
        grants: Grants,
        gate: PolicyGate,
        status: CoreStatus,
        settler: Settler,
        preset: DispatchPolicy,
        ids: Callable[[], str],
    ) -> None:
        self._broker = broker
        self._calls = calls
        self._grants = grants
        self._gate = gate
        self._status = status
        self._settler = settler
        self.pacing = RateLimiter()
        self._preset = preset
        self._ids = ids

    def execute(
        self,
        event: Event,
        conn: int,
        call: TrackedCall,
        ruling: Ruling,
        traces: list[Effect],
        now: Instant,
    ) -> list[Effect]:
        """Carries out the ruling on a call for one connection.

        Args:
            event: the event that came over the connection.
            conn: the connection.
            call: the call that the event belongs to.
            ruling: the decision of handlers and policy, and the event as it would run.
            traces: the records of the dispatch, which go after the call's own record.
            now: the current time.
        """
        subject, outcome = ruling.event, ruling.outcome
        tool, assessment = subject.tool, self._gate.assess(subject)
        if tool is None or assessment is None:
            raise TypeError("a call without a tool was ruled on")
        because = (ruling.by, ruling.reason) if ruling.by else None
        word, reason = self._why_denied(event, ruling)
        if word is not None:
            if word == "denied-by-rule":
                self._gate.retries.note_denied(subject, assessment, now)
            call.decided = "deny"
            ours = assessment.decision == "deny" and not ruling.hook
            safer = assessment.decisive.suggest if ours else ""
            denial = SayDeny(
                denial_text.denial(word, reason=reason, hook=ruling.hook, safer=safer),
                stop=outcome.stop_turn and event.can.stop,
            )
            denied = record_builders.called(event, tool, call, "denied", assessment, word, because)
            return [denied, *traces, Send(conn, event, denial)]
        same = self.answer_from_other_lane(event, call, conn, now, ruling)
        if same is not None:
            return [*traces, *same]
        # Nobody is asked for a decision that the agent would not take.
        asked = outcome.decision == "confirm" and event.can.deny
        by_rule = outcome.decision == "allow" and not self._status.journal_lost
        if (asked or by_rule) and not self._broker.crowded_for(event):
            grant = self._covering(ruling, assessment, now)
            limit_s = self._status.wait_s(event, now)
            if by_rule or grant is not None or limit_s > 0 or ruling.rewritten:
                silence: Silence = "deny" if ruling.rewritten else self._status.silence(event)
                waiter = Waiter(conn, subject, silence)
                if not by_rule and grant is None and (paused := self._paused(event, now)):
                    return self._answer_paused(call, waiter, assessment, *paused, traces, now)
                # What a grant or a rule answers would not wait at all; this is for the disk.
                wait_s = limit_s if limit_s > 0 else self._status.config.approval.margin_s
                request = build_request(
                    ruling, call, assessment, self._grants, self._ids(), silence, wait_s, now
                )
                request.context = self._preset.joined_by.join(outcome.injections)
                request.waiters.append(waiter)
                called = record_builders.called(
                    event, tool, call, "held", assessment, None, because
                )
                if by_rule or grant is not None:
                    self._gate.flow.note_run(subject, assessment, now)
                return [called, *traces, *self._hold(request, grant, now, by_rule=by_rule)]
        call.decided, call.left = "handback", False
        self._gate.flow.note_run(subject, assessment, now)
        handed = record_builders.called(event, tool, call, "handback", assessment)
        context = self._preset.joined_by.join(outcome.injections)
        return [handed, *traces, Send(conn, event, SayNothing(context))]

    def answer_from_other_lane(
        self, event: Event, call: TrackedCall, conn: int, now: Instant, ruling: Ruling | None = None
    ) -> list[Effect] | None:
        """Answers with the decision that another lane of the call has, or joins its request.

        Args:
            event: the event that came over the connection.
            call: the call that the event belongs to.
            conn: the connection.
            now: the current time.
            ruling: the ruling on this event, if there is one; another lane must have the same call.

        Returns:
            The effects; None where the call is not decided and not asked about.
        """
        tool = event.tool if ruling is None else ruling.event.tool
        if tool is None:
            return None
        if call.carried is not None and not (ruling is not None and ruling.rewritten):
            assessment = self._gate.assess(event)
            reply = _as_taken(tool, call.carried.reply)
            carried = Send(conn, event, reply_for(event, reply), call.carried.request)
            gate: Gate = "carried" if event.can.allow or event.can.deny else "handback"
            return [record_builders.called(event, tool, call, gate, assessment), carried]
        request = self._broker.open.get(call.request or "")
        if request is None:
            return None
        if ruling is not None and request.data.tool.input_hash != tool.input_hash:
            return None
        joined = record_builders.called(event, tool, call, "joined", self._gate.assess(event))
        return [joined, *self._join(request, event, conn, now)]

    def _why_denied(self, event: Event, ruling: Ruling) -> tuple[Word | None, str]:
        """Returns the word and the reason of a call that is denied without being asked about."""
        outcome = ruling.outcome
        if outcome.decision == "deny":
            return "denied-failure" if outcome.failed else "denied-by-rule", outcome.reason
        if self._must_be_attended(outcome):
            return "denied-no-approver", f"requires confirmation: {outcome.reason}"
        # Handed back, a rewritten call would run as it was before.
        if ruling.rewritten or self._status.silence(event) == "deny":
            if self._status.journal_lost:
                return "denied-no-journal", self._status.journal_lost
            if outcome.decision == "confirm" and (crowd := self._broker.crowded_for(event)):
                return "denied-failure", crowd
        return None, ""

    def _must_be_attended(self, outcome: Outcome) -> bool:
        """Returns whether a handler's question is a denial as no console is attached (SY-16)."""
        asked = outcome.decision == "confirm" and outcome.decided_by != POLICY
        return asked and not self._status.consoles and self._preset.confirm_unattended == "block"

    def _covering(self, ruling: Ruling, assessment: Assessment, now: Instant) -> Grant | None:
        event = ruling.event
        if event.tool is None or ruling.outcome.decision != "confirm":
            return None
        asked_by = ruling.by or why_raised(assessment)
        return self._grants.covering(event, event.tool, assessment, now, asked_by=asked_by)

    def _paused(self, event: Event, now: Instant) -> tuple[SessionPause, bool] | None:
        """Returns the pause in which nobody is asked about this call, and whether it is new."""
        pause = self.pacing.paused(event.agent, event.session, now)
        if pause is not None:
            return pause, False
        pending = self._broker.of_session(event.agent, event.session)
        pause = self.pacing.count_request(event.agent, event.session, pending, now)
        return None if pause is None else (pause, True)

    def _answer_paused(
        self,
        call: TrackedCall,
        waiter: Waiter,
        assessment: Assessment,
        pause: SessionPause,
        begins: bool,
        traces: list[Effect],
        now: Instant,
    ) -> list[Effect]:
        """Ends a call of a session that is paused, as silence would on its lane.

        Args:
            call: the call.
            waiter: the connection that waits, its event, and what silence means for it.
            assessment: the policy's assessment of the call.
            pause: the pause of the session.
            begins: whether the pause begins with this call.
            traces: the records of the dispatch, which go after the call's own record.
            now: the current time.
        """
        event = waiter.event
        denied = waiter.silence == "deny"
        call.decided, call.left = "deny" if denied else "handback", False
        left_s = pause.until.mono_s - now.mono_s
        reason = f"{pause.why}; it is paused for another {left_s:.0f} s"
        text = denial_text.denial("denied-paused", reason=reason)
        if event.tool is None:
            raise TypeError("a call without a tool was ruled on")
        if not denied:
            self._gate.flow.note_run(event, assessment, now)
        gate: Gate = "denied" if denied else "handback"
        word: Word = "denied-paused" if denied else "handed-back"
        effects: list[Effect] = [
            record_builders.called(
                event, event.tool, call, gate, assessment, word, (POLICY, pause.why)
            ),
            *traces,
            Send(waiter.conn, event, waiter.undecided(text)),
        ]
        return [*effects, record_builders.paused(event, pause)] if begins else effects

    def _join(
        self, request: ApprovalRequest, event: Event, conn: int, now: Instant
    ) -> list[Effect]:
        silence: Silence = "deny" if request.rewritten else self._status.silence(event)
        limit_s = self._status.wait_s(event, now) if silence == "deny" else float("inf")
        if self._broker.join(request, Waiter(conn, event, silence), limit_s, now):
            return [record_builders.extended(request, "a connection that waits less long", now)]
        return []

    def _hold(
        self, request: ApprovalRequest, grant: Grant | None, now: Instant, *, by_rule: bool
    ) -> list[Effect]:
        longer = request.data.timeout_s > self._status.config.approval.timeout_s
        if longer and not self._status.consoles:
            request.data = msgspec.structs.replace(request.data, unattended=True)
        effects: list[Effect] = [
            record_builders.about(request, "approval.requested", request.data, now)
        ]
        self._broker.add(request)
        if by_rule:
            return effects + self._settler.allow_by_rule(request, now)
        if grant is not None:
            return effects + self._settler.allow_by_grant(request, grant, now)
        config = self._status.config.approval
        if not self._status.consoles and config.unattended == "deny":
            effects += self._settler.end_unattended(request, "no console is attached", now)
        return effects


def _as_taken(tool: Tool, reply: Reply) -> Reply:
    """Returns a carried reply without its input where the agent has taken that already.

    Agents ask for permission after they took an edit, and then the input needs no other.
    """
    if not isinstance(reply, SayAllow) or reply.input is None:
        return reply
    taken = tool.input_hash == input_hash(reply.input, tool.cls)
    return SayAllow(context=reply.context) if taken else reply

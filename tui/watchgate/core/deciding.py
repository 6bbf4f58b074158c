"""What follows for a call from what was ruled: denied, handed back, allowed, or put to a person."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from watchgate.core import drafts, wording
from watchgate.core.approvals import Broker
from watchgate.core.asking import request_about
from watchgate.core.calls import Call, Calls
from watchgate.core.clock import Instant
from watchgate.core.effects import Effect, Send
from watchgate.core.endings import Endings, reply_for
from watchgate.core.events import Event, Tool
from watchgate.core.grants.book import Grants
from watchgate.core.grants.grant import Grant
from watchgate.core.judging import POLICY
from watchgate.core.pacing import Pacing, Pause
from watchgate.core.policy.assessment import Assessment
from watchgate.core.policy.gate import PolicyGate
from watchgate.core.presets import DispatchPolicy
from watchgate.core.raising import why_raised
from watchgate.core.records import Gate, Silence, Word
from watchgate.core.requests import Request, Waiter
from watchgate.core.ruling import Ruling
from watchgate.core.standing import Standing
from watchgate.core.tool_input import input_hash
from watchgate.core.verdicts import Outcome, Reply, SayAllow, SayDeny, SayNothing


class Deciding:
    """Carries out rulings on calls; `pacing` is how much each session asked lately."""

    def __init__(
        self,
        broker: Broker,
        calls: Calls,
        grants: Grants,
        gate: PolicyGate,
        standing: Standing,
        endings: Endings,
        preset: DispatchPolicy,
        ids: Callable[[], str],
    ) -> None:
        self._broker = broker
        self._calls = calls
        self._grants = grants
        self._gate = gate
        self._standing = standing
        self._endings = endings
        self.pacing = Pacing()
        self._preset = preset
        self._ids = ids

    def __call__(
        self,
        event: Event,
        conn: int,
        call: Call,
        ruling: Ruling,
        traces: list[Effect],
        now: Instant,
    ) -> list[Effect]:
        """What follows on one connection; `traces` go after the call's own record."""
        subject, outcome = ruling.event, ruling.outcome
        tool, found = subject.tool, self._gate.assess(subject)
        if tool is None or found is None:
            raise TypeError("a call without a tool was ruled on")
        because = (ruling.by, ruling.reason) if ruling.by else None
        word, reason = self._barred(event, ruling)
        if word is not None:
            if word == "denied-by-rule":
                self._gate.retries.denied(subject, found, now)
            call.decided = "deny"
            ours = found.decision == "deny" and not ruling.hook
            safer = found.decisive.suggest if ours else ""
            said = SayDeny(
                wording.denial(word, reason=reason, hook=ruling.hook, safer=safer),
                stop=outcome.stop_turn and event.can.stop,
            )
            denied = drafts.called(event, tool, call, "denied", found, word, because)
            return [denied, *traces, Send(conn, event, said)]
        same = self.settled(event, call, conn, now, ruling)
        if same is not None:
            return [*traces, *same]
        # Nobody is asked about what the agent cannot be told.
        asked = outcome.decision == "confirm" and event.can.deny
        by_rule = outcome.decision == "allow" and not self._standing.journal_lost
        if (asked or by_rule) and not self._broker.crowded_for(event):
            grant = self._covering(ruling, found, now)
            limit_s = self._standing.wait_s(event, now)
            if by_rule or grant is not None or limit_s > 0 or ruling.rewritten:
                silence: Silence = "deny" if ruling.rewritten else self._standing.silence(event)
                waiter = Waiter(conn, subject, silence)
                if not by_rule and grant is None and (paused := self._paused(event, now)):
                    return self._unasked(call, waiter, found, *paused, traces, now)
                # What a grant or a rule answers would not wait at all; this is for the disk.
                wait_s = limit_s if limit_s > 0 else self._standing.config.approval.margin_s
                request = request_about(
                    ruling, call, found, self._grants, self._ids(), silence, wait_s, now
                )
                request.context = self._preset.joined_by.join(outcome.injections)
                request.waiters.append(waiter)
                called = drafts.called(event, tool, call, "held", found, None, because)
                if by_rule or grant is not None:
                    self._gate.flow.ran(subject, found, now)
                return [called, *traces, *self._hold(request, grant, now, by_rule=by_rule)]
        call.decided, call.left = "handback", False
        self._gate.flow.ran(subject, found, now)
        handed = drafts.called(event, tool, call, "handback", found)
        context = self._preset.joined_by.join(outcome.injections)
        return [handed, *traces, Send(conn, event, SayNothing(context))]

    def settled(
        self, event: Event, call: Call, conn: int, now: Instant, ruling: Ruling | None = None
    ) -> list[Effect] | None:
        """What another lane of the call was told already, or waits for; None where it is open.

        What the gates of this lane were heard on (`ruling`) must be what that was about.
        """
        tool = event.tool if ruling is None else ruling.event.tool
        if tool is None:
            return None
        if call.carried is not None and not (ruling is not None and ruling.rewritten):
            found = self._gate.assess(event)
            reply = _as_taken(tool, call.carried.reply)
            carried = Send(conn, event, reply_for(event, reply), call.carried.request)
            gate: Gate = "carried" if event.can.allow or event.can.deny else "handback"
            return [drafts.called(event, tool, call, gate, found), carried]
        request = self._broker.open.get(call.request or "")
        if request is None:
            return None
        if ruling is not None and request.data.tool.input_hash != tool.input_hash:
            return None
        joined = drafts.called(event, tool, call, "joined", self._gate.assess(event))
        return [joined, *self._join(request, event, conn, now)]

    def _barred(self, event: Event, ruling: Ruling) -> tuple[Word | None, str]:
        """Why the call is denied without being asked about, in its word and its reason."""
        outcome = ruling.outcome
        if outcome.decision == "deny":
            return "denied-failure" if outcome.failed else "denied-by-rule", outcome.reason
        if self._must_be_attended(outcome):
            return "denied-no-approver", f"requires confirmation: {outcome.reason}"
        # Handed back, a rewritten call would run as it was before.
        if ruling.rewritten or self._standing.silence(event) == "deny":
            if self._standing.journal_lost:
                return "denied-no-journal", self._standing.journal_lost
            if outcome.decision == "confirm" and (crowd := self._broker.crowded_for(event)):
                return "denied-failure", crowd
        return None, ""

    def _must_be_attended(self, outcome: Outcome) -> bool:
        """Whether a handler's question is a denial where no console is attached (SY-16)."""
        asked = outcome.decision == "confirm" and outcome.decided_by != POLICY
        return asked and not self._standing.consoles and self._preset.confirm_unattended == "block"

    def _covering(self, ruling: Ruling, found: Assessment, now: Instant) -> Grant | None:
        event = ruling.event
        if event.tool is None or ruling.outcome.decision != "confirm":
            return None
        asked_by = ruling.by or why_raised(found)
        return self._grants.covering(event, event.tool, found, now, asked_by=asked_by)

    def _paused(self, event: Event, now: Instant) -> tuple[Pause, bool] | None:
        """The pause for which nobody is asked about this call, and whether it begins with it."""
        pause = self.pacing.paused(event.agent, event.session, now)
        if pause is not None:
            return pause, False
        pending = self._broker.of_session(event.agent, event.session)
        pause = self.pacing.asks(event.agent, event.session, pending, now)
        return None if pause is None else (pause, True)

    def _unasked(
        self,
        call: Call,
        waiter: Waiter,
        found: Assessment,
        pause: Pause,
        begins: bool,
        traces: list[Effect],
        now: Instant,
    ) -> list[Effect]:
        """The end of a call of a session that is paused, as silence has it on its lane."""
        event = waiter.event
        denied = waiter.silence == "deny"
        call.decided, call.left = "deny" if denied else "handback", False
        left_s = pause.until.mono_s - now.mono_s
        reason = f"{pause.why}; it is paused for another {left_s:.0f} s"
        text = wording.denial("denied-paused", reason=reason)
        if event.tool is None:
            raise TypeError("a call without a tool was ruled on")
        if not denied:
            self._gate.flow.ran(event, found, now)
        gate: Gate = "denied" if denied else "handback"
        word: Word = "denied-paused" if denied else "handed-back"
        effects: list[Effect] = [
            drafts.called(event, event.tool, call, gate, found, word, (POLICY, pause.why)),
            *traces,
            Send(waiter.conn, event, waiter.undecided(text)),
        ]
        return [*effects, drafts.paused(event, pause)] if begins else effects

    def _join(self, request: Request, event: Event, conn: int, now: Instant) -> list[Effect]:
        silence: Silence = "deny" if request.rewritten else self._standing.silence(event)
        limit_s = self._standing.wait_s(event, now) if silence == "deny" else float("inf")
        if self._broker.join(request, Waiter(conn, event, silence), limit_s, now):
            return [drafts.extended(request, "a connection that waits less long", now)]
        return []

    def _hold(
        self, request: Request, grant: Grant | None, now: Instant, *, by_rule: bool
    ) -> list[Effect]:
        longer = request.data.timeout_s > self._standing.config.approval.timeout_s
        if longer and not self._standing.consoles:
            request.data = msgspec.structs.replace(request.data, unattended=True)
        effects: list[Effect] = [drafts.about(request, "approval.requested", request.data, now)]
        self._broker.add(request)
        if by_rule:
            return effects + self._endings.allow_by_rule(request, now)
        if grant is not None:
            return effects + self._endings.allow_by_grant(request, grant, now)
        config = self._standing.config.approval
        if not self._standing.consoles and config.unattended == "deny":
            effects += self._endings.nobody(request, "no console is attached", now)
        return effects


def _as_taken(tool: Tool, reply: Reply) -> Reply:
    """The carried reply about a call that its agent tells with its edited input already.

    Agents ask for permission after they took an edit, and then the input needs no other.
    """
    if not isinstance(reply, SayAllow) or reply.input is None:
        return reply
    taken = tool.input_hash == input_hash(reply.input, tool.cls)
    return SayAllow(context=reply.context) if taken else reply

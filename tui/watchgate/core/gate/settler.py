"""Settles requests, and answers every agent that waits for one."""

from __future__ import annotations

from watchgate.core.base.clock import Instant
from watchgate.core.gate import denial_text, record_builders
from watchgate.core.gate.broker import Broker
from watchgate.core.gate.call_tracker import CallTracker, CarriedDecision
from watchgate.core.gate.effects import Effect, Send, SyncJournal
from watchgate.core.gate.grant_book import Grants
from watchgate.core.gate.operator_decisions import OperatorDecision
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.records import Word
from watchgate.core.model.requests import ApprovalRequest, Input, Status
from watchgate.core.model.standing_grant import Grant
from watchgate.core.model.verdicts import Reply, SayAllow, SayAnswer, SayDeny, SayNothing
from watchgate.core.state.asked_call import of_request

_NO_EDIT = "Only a rewritten form of this call was approved, and it cannot be passed on here."


class Settler:
    """Settles requests that nobody decides, and carries out what was decided."""

    def __init__(self, broker: Broker, calls: CallTracker, grants: Grants, on_timeout: str) -> None:
        self._broker = broker
        self._calls = calls
        self._grants = grants
        self._on_timeout = on_timeout

    def end_undecided(
        self,
        request: ApprovalRequest,
        cause: Input,
        word: Word,
        by: str,
        now: Instant,
        reason: str = "",
    ) -> list[Effect]:
        """Ends a request that nobody decided, as silence has it on the lanes that wait.

        Args:
            request: the open request.
            cause: the event that ends it.
            word: the word for this end in records.
            by: the author of the end, for records.
            now: the current time.
            reason: the reason, for the agent.
        """
        cause, word = _in_silence(request, cause, word)
        stop = word == "denied-by-timeout" and self._on_timeout == "deny_and_stop"
        self._broker.settle(request, cause, word=word, by=by, now=now, reason=reason, stop=stop)
        return [record_builders.decided(request), *self.answer_waiters(request)]

    def take_back(
        self, request: ApprovalRequest, cause: Input, word: Word, reason: str, now: Instant
    ) -> list[Effect]:
        """Takes back an allow that was decided but must not be sent any more.

        Args:
            request: a request whose allow is not on disk yet.
            cause: the event that undoes it.
            word: the word for this end in records.
            reason: the reason, for the agent.
            now: the current time.
        """
        cause, word = _in_silence(request, cause, word)
        self._broker.settle(request, cause, word=word, by="watchgate", now=now, reason=reason)
        undone = record_builders.undelivered(request, word, "the allow was never told", now)
        return [undone, *self.answer_waiters(request)]

    def end_unattended(self, request: ApprovalRequest, reason: str, now: Instant) -> list[Effect]:
        """Ends a request while there is nobody who could decide it (AP-3)."""
        return self.end_undecided(
            request, Input.FAIL, "denied-no-approver", "watchgate", now, reason
        )

    def answer_waiters(self, request: ApprovalRequest) -> list[Effect]:
        """Answers all waiting connections, each with what its lane makes of the decision."""
        end = request.ending
        text = denial_text.denial(
            end.word, request=request.id, reason=end.reason, waited_s=end.waited_s
        )
        reply: Reply | None = None
        if request.status is Status.ALLOWED and request.data.asks == "question":
            reply = SayAnswer(end.answers)
        elif request.status is Status.ALLOWED:
            reply = SayAllow(
                request.data.tool.input if request.rewritten else None, _allow_context(request)
            )
        elif end.word == "denied-by-operator":
            reply = SayDeny(text, stop=end.stop)
        elif end.word == "handed-back-by-operator":
            reply = SayNothing(request.context)
        sends = [
            Send(
                waiter.conn,
                waiter.event,
                waiter.undecided(text, stop=end.stop)
                if reply is None
                else reply_for(waiter.event, reply),
                request.id,
            )
            for waiter in request.waiters
        ]
        call = self._calls.get(request.subject, request.call)
        if call is not None and call.request == request.id:
            denied = any(isinstance(send.reply, SayDeny) for send in sends)
            allowed = isinstance(reply, SayAllow | SayAnswer)
            if allowed and request.rewritten:
                self._calls.rewrite(call, request.data.tool)
                asked = of_request(request.data)
                call.changed = asked.verb if asked is not None else ""
            # Whoever asked on a relay and went away waits in its own terminal now.
            call.left = not sends and request.subject.lane is not Lane.RELAY
            call.decided = "allow" if allowed else "deny" if denied else "handback"
            call.carried = None if reply is None else CarriedDecision(request.id, reply)
        return [*sends]

    def allow_by_grant(self, request: ApprovalRequest, grant: Grant, now: Instant) -> list[Effect]:
        """Lets a grant decide, in the name of its giver; nothing if the request ended already."""
        by = f"grant #{grant.id[:4]} of {grant.by}"
        if not self._broker.settle(request, Input.ALLOW, word="allowed-by-grant", by=by, now=now):
            return []
        used = self._grants.used(grant, request, now)
        return [record_builders.decided(request), *used, SyncJournal(request.id)]

    def allow_by_rule(self, request: ApprovalRequest, now: Instant) -> list[Effect]:
        """Lets an allow rule decide, as the configuration has it."""
        by = f"rule {request.data.rule}"
        if not self._broker.settle(request, Input.ALLOW, word="allowed-by-rule", by=by, now=now):
            return []
        return [record_builders.decided(request), SyncJournal(request.id)]

    def give_grant(self, request: ApprovalRequest, now: Instant) -> list[Effect]:
        """Puts a grant in force and releases the equal requests that wait already (AP-8)."""
        grant, effects = self._grants.give(request, now)
        for other in list(self._broker.open.values()):
            pending = other.status is Status.PENDING
            if pending and self._grants.releases(grant, other, now):
                effects += self.allow_by_grant(other, grant, now)
        return effects

    def replace(
        self,
        request: ApprovalRequest,
        edited: ApprovalRequest,
        decision: OperatorDecision,
        now: Instant,
    ) -> list[Effect]:
        """Puts an edited request in the place of the one that it was made from."""
        reason = f"it goes on as #{edited.id[:4]}"
        self._broker.settle(
            request,
            Input.EDIT,
            word="edited-by-operator",
            by=decision.by,
            now=now,
            reason=reason,
            decision=decision,
        )
        self._broker.add(edited)
        call = self._calls.get(edited.subject, edited.call)
        if call is not None and call.request == request.id:
            call.request = edited.id
        return [
            record_builders.decided(request),
            record_builders.about(edited, "approval.requested", edited.data, now),
        ]


def _allow_context(request: ApprovalRequest) -> str:
    """Returns the model's text with an allow: handlers' texts, and a note on an operator's edit."""
    edited = denial_text.edit_notice(request.data.summary) if request.data.edited_from else ""
    return "\n".join(filter(None, (request.context, edited)))


def reply_for(event: Event, reply: Reply) -> Reply:
    """Returns the reply as this event's agent can take it; a rewrite that it cannot is a denial."""
    if isinstance(reply, SayAnswer):
        return reply if event.can.answer else SayNothing()
    if not isinstance(reply, SayAllow):
        return reply
    if reply.input is not None:
        # One that takes another input but no allow goes on by its own rules, with the new input.
        return reply if event.can.modify else SayDeny(_NO_EDIT)
    return reply if event.can.allow else SayNothing(reply.context)


def _in_silence(request: ApprovalRequest, cause: Input, word: Word) -> tuple[Input, Word]:
    """Returns the input and the word of an end that nobody decided.

    Where every lane hands back, nothing is denied.
    """
    if request.silence == "deny" or cause is Input.HANGUP:
        return cause, word
    timed_out = word == "denied-by-timeout"
    return Input.HANDBACK, "handed-back-by-timeout" if timed_out else "handed-back"

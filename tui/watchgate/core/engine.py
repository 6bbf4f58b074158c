"""The engine: events, decisions and time in; records and answers out.

This is the whole product without its descriptors, so a detached core, a hosted console, a test
with a fake clock and a replay run the same code. Every method returns the effects that follow, in
the order in which they must happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from watchgate.core import drafts, wording
from watchgate.core.aftermath import TURN_OVER, Aftermath
from watchgate.core.approvals import Broker
from watchgate.core.asking import answerable, request_about, subject_digest
from watchgate.core.bus import Bus
from watchgate.core.calls import Call, Calls
from watchgate.core.clock import Instant
from watchgate.core.config import Config
from watchgate.core.coverage import Coverage, Traits
from watchgate.core.effects import Commit, Effect, Send
from watchgate.core.endings import Endings, reply_for
from watchgate.core.events import Event, Tool, ToolBatch, ToolCall, ToolResult
from watchgate.core.grants import Grant, Grants, scopes_for
from watchgate.core.handlers import Handler
from watchgate.core.hearing_room import HearingRoom
from watchgate.core.hearings import Ended, Hearings
from watchgate.core.policy.gate import PolicyGate
from watchgate.core.policy.profiles import Profile
from watchgate.core.presets import preset_of
from watchgate.core.records import DeadlineData, EffectData, Silence, Word
from watchgate.core.requests import Input, Request, Status, Waiter
from watchgate.core.ruling import POLICY, Ruling
from watchgate.core.standing import Standing
from watchgate.core.verdicts import Outcome, Report, SayDeny, SayNothing

_CALLS = ("tool.pre", "tool.permission")
_TOO_LATE = "An operator's allow came too late to be recorded in time"


class Engine:
    """One core's logic; `ids` makes a fresh request id each time it is called."""

    def __init__(
        self,
        config: Config,
        gate: PolicyGate,
        ids: Callable[[], str],
        handlers: Iterable[Handler] = (),
        *,
        traits: Callable[[str], Traits],
    ) -> None:
        self.config = config
        self.broker = Broker(config.approval.margin_s)
        self.grants = Grants()
        self.standing = Standing(config, gate)
        self._gate = gate
        self._ids = ids
        self._calls = Calls()
        self.preset = preset_of(config.dispatch.preset, config.dispatch.total_timeout_s)
        self._bus = Bus(self.preset, handlers)
        self._hearings = Hearings(self._bus)
        self._room = HearingRoom(self._hearings, self.preset, gate, self.standing, self._decide)
        self._ended = Ended()
        self.coverage = Coverage(traits)
        self._after = Aftermath(self.broker, self._calls, self.grants, self.coverage)
        self._endings = Endings(self.broker, self._calls, self.grants, config.approval.on_timeout)

    def receive(self, event: Event, conn: int, now: Instant) -> list[Effect]:
        """Take in one event; `conn` names the connection that may wait for an answer."""
        body = event.body
        if isinstance(body, ToolCall) and (event.kind in _CALLS or answerable(event)):
            return self._call(event, body.tool, conn, now)
        if isinstance(body, ToolResult):
            effects = self._after.ran(event, body, now)
        else:
            self.coverage.heard(event)
            effects = [drafts.note(event)]
            if isinstance(body, ToolBatch):
                effects += self._after.batch_over(event, body, now)
            elif isinstance(body, ToolCall) and event.kind == "tool.permission.resolved":
                effects += self._after.resolved(event, body, now)
            elif event.kind in TURN_OVER:
                effects += self._after.turn_over(event, now)
        effects += self._room.past(now)
        if event.kind != "session.end":
            self._ended.discard(event)
            return effects + self._room.hear(event, conn, None, now)
        if self._ended.add(event):
            effects += self._room.hear(event, conn, None, now)
            self._bus.forget(event)
        elif event.lane.waits:
            effects.append(Send(conn, event, SayNothing()))
        return effects

    def heard(self, hearing: int, handler: str, report: Report, now: Instant) -> list[Effect]:
        """Take what a handler said; whoever waits for the hearing is answered when it is over."""
        return self._room.heard(hearing, handler, report, now)

    def waits_for(self, hearing: int) -> list[int]:
        """The connections that wait for what comes of a hearing."""
        return self._hearings.waits_for(hearing)

    def awaited(self, number: int) -> frozenset[str]:
        """The handlers of a hearing whose reports are awaited."""
        return self._hearings.awaited(number)

    def decided(self, request: Request) -> list[Effect]:
        """Carry out what an operator decided through the broker."""
        if request.status is Status.COMMITTING:
            return [drafts.decided(request), Commit(request.id)]
        return [drafts.decided(request), *self._endings.tell(request)]

    def committed(self, request_id: str, ok: bool, now: Instant) -> list[Effect]:
        """The allow of this request is on disk (or is not): tell the agent what that means."""
        request = self.broker.open.get(request_id)
        if request is None:
            return []  # ended meanwhile; that end was told and recorded when it came
        if not ok:
            return self._endings.undo(
                request, Input.FAIL, "denied-no-journal", self.standing.journal_lost, now
            )
        if now.mono_s >= request.deadline_s:
            return self._endings.undo(request, Input.EXPIRE, "denied-by-timeout", _TOO_LATE, now)
        self.broker.committed(request)
        effects = self._endings.tell(request)
        if request.ending.scope != "once":
            effects += self._endings.grant(request, now)
        return effects

    def sent(self, request_id: str, delivered: bool, now: Instant) -> list[Effect]:
        """The answer was handed to a waiting client, or could not be (AP-14)."""
        request = self.broker.get(request_id)
        if request is None:
            return []  # settled so long ago that it is not kept any more
        if delivered:
            return [drafts.about(request, "effect.sent", EffectData(word=request.ending.word), now)]
        return [drafts.undelivered(request, "withdrawn", "the client was gone", now)]

    def expire(self, now: Instant) -> list[Effect]:
        """End every request whose deadline has passed, as its lane says (AP-2).

        Handlers whose time is up have failed.
        """
        effects = self._room.expire(now)
        for request in self.broker.due(now):
            if request.status is Status.COMMITTING:
                effects += self._endings.undo(
                    request, Input.EXPIRE, "denied-by-timeout", _TOO_LATE, now
                )
                continue
            passed = DeadlineData(deadline_at=request.data.deadline_at)
            effects.append(drafts.about(request, "approval.timeout", passed, now))
            effects += self._endings.end(request, Input.EXPIRE, "denied-by-timeout", "nobody", now)
        return effects

    def hung_up(self, conn: int, now: Instant) -> list[Effect]:
        """A waiting client's connection ended: nobody is there to be answered (AP-4, CORE-9)."""
        left = self._room.left(conn, "withdrawn", "", now)
        if left is not None:
            return left
        request = self.broker.hung_up(conn)
        if request is None:
            return []
        if request.status is Status.COMMITTING:
            return self._endings.undo(request, Input.HANGUP, "withdrawn", "", now)
        return self._endings.end(request, Input.HANGUP, "withdrawn", "the agent", now)

    def failed(self, conn: int, reason: str, now: Instant) -> list[Effect]:
        """This connection was answered closed for a fault of ours: so ends what it waited for."""
        left = self._room.left(conn, "denied-failure", reason, now)
        if left is not None:
            return left
        request = self.broker.open.get(self.broker.of_conn(conn) or "")
        if request is None:
            return []
        if len(request.waiters) > 1:
            self.broker.hung_up(conn)  # the others still wait for an answer
            return []
        if request.status is Status.COMMITTING:
            return self._endings.undo(request, Input.FAIL, "denied-failure", reason, now)
        return self._endings.end(request, Input.FAIL, "denied-failure", "watchgate", now, reason)

    def extended(self, request: Request, by: str, now: Instant) -> list[Effect]:
        """Record that a request was given more time."""
        data = DeadlineData(deadline_at=request.data.deadline_at, by=by)
        return [drafts.about(request, "approval.extended", data, now)]

    def close_all(self, word: Word, reason: str, now: Instant) -> list[Effect]:
        """Answer every open request closed: the core stops, or loses its journal."""
        effects = self._room.close_all(word, reason, now)
        for request in list(self.broker.open.values()):
            if request.status is Status.COMMITTING:
                effects += self._endings.undo(request, Input.FAIL, word, reason, now)
            else:
                effects += self._endings.end(request, Input.FAIL, word, "watchgate", now, reason)
        return effects

    def console_count(self, count: int, now: Instant) -> list[Effect]:
        """Consoles came or went; without any, `unattended = "deny"` ends what waits (AP-3)."""
        self.standing.consoles = count
        if count or self.config.approval.unattended != "deny":
            return []
        waiting = [r for r in self.broker.open.values() if r.status is Status.PENDING]
        return [e for r in waiting for e in self._endings.nobody(r, "the last console left", now)]

    @property
    def profile(self) -> Profile:
        """The profile in force."""
        return self._gate.profile

    def next_deadline(self) -> float | None:
        """When `expire` has to be called next, in monotonic seconds."""
        due = (self.broker.next_deadline(), self._hearings.next_deadline())
        return min((each for each in due if each is not None), default=None)

    def _call(self, event: Event, tool: Tool, conn: int, now: Instant) -> list[Effect]:
        self.coverage.heard(event, tool.call_id)
        call = self._calls.begin(event, tool)
        if not event.lane.waits:
            recorded = drafts.called(event, tool, call, "recorded", self._gate.assess(event))
            return [recorded, *self._room.hear(event, conn, call, now)]
        if not self._bus.gated(event.kind):
            settled = self._settled(event, call, conn, now)
            if settled is not None:
                return settled
        return self._room.hear(event, conn, call, now)

    def _settled(
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
            carried = Send(conn, event, reply_for(event, call.carried.reply), call.carried.request)
            return [drafts.called(event, tool, call, "carried", found), carried]
        request = self.broker.open.get(call.request or "")
        if request is None:
            return None
        if ruling is not None and request.data.tool.input_hash != tool.input_hash:
            return None
        joined = drafts.called(event, tool, call, "joined", self._gate.assess(event))
        return [joined, *self._join(request, event, conn, now)]

    def _decide(
        self,
        event: Event,
        conn: int,
        call: Call,
        ruling: Ruling,
        traces: list[Effect],
        now: Instant,
    ) -> list[Effect]:
        subject, outcome = ruling.event, ruling.outcome
        tool, found = subject.tool, self._gate.assess(subject)
        if tool is None or found is None:
            raise TypeError("a call without a tool was ruled on")
        because = (ruling.by, ruling.reason) if ruling.by else None
        word, reason = self._barred(event, ruling)
        if word is not None:
            call.decided = "deny"
            said = SayDeny(
                wording.denial(word, reason=reason, hook=ruling.hook),
                stop=outcome.stop_turn and event.can.stop,
            )
            denied = drafts.called(event, tool, call, "denied", found, word, because)
            return [denied, *traces, Send(conn, event, said)]
        same = self._settled(event, call, conn, now, ruling)
        if same is not None:
            return [*traces, *same]
        # Nobody is asked about what the agent cannot be told.
        if outcome.decision == "confirm" and event.can.deny and not self.broker.crowded:
            grant = self._covering(subject, tool, found.risk, now)
            limit_s = self.standing.wait_s(event, now)
            if grant is not None or limit_s > 0 or ruling.rewritten:
                silence: Silence = "deny" if ruling.rewritten else self.standing.silence(event)
                # A grant answers what would not wait at all; this is for the disk.
                wait_s = limit_s if limit_s > 0 else self.config.approval.margin_s
                request = request_about(ruling, call, found, self._ids(), silence, wait_s, now)
                request.context = self.preset.joined_by.join(outcome.injections)
                request.waiters.append(Waiter(conn, subject, silence))
                called = drafts.called(event, tool, call, "held", found, None, because)
                return [called, *traces, *self._hold(request, grant, now)]
        call.decided, call.left = "handback", False
        handed = drafts.called(event, tool, call, "handback", found)
        context = self.preset.joined_by.join(outcome.injections)
        return [handed, *traces, Send(conn, event, SayNothing(context))]

    def _barred(self, event: Event, ruling: Ruling) -> tuple[Word | None, str]:
        """Why the call is denied without being asked about, in its word and its reason."""
        outcome = ruling.outcome
        if outcome.decision == "deny":
            return "denied-failure" if outcome.failed else "denied-by-rule", outcome.reason
        if self._must_be_attended(outcome):
            return "denied-no-approver", f"requires confirmation: {outcome.reason}"
        # Handed back, a rewritten call would run as it was before.
        if ruling.rewritten or self.standing.silence(event) == "deny":
            if self.standing.journal_lost:
                return "denied-no-journal", self.standing.journal_lost
            if outcome.decision == "confirm" and (crowd := self.broker.crowded):
                return "denied-failure", crowd
        return None, ""

    def _must_be_attended(self, outcome: Outcome) -> bool:
        """Whether a handler's question is a denial where no console is attached (SY-16)."""
        asked = outcome.decision == "confirm" and outcome.decided_by != POLICY
        return asked and not self.standing.consoles and self.preset.confirm_unattended == "block"

    def _covering(self, event: Event, tool: Tool, risk: str, now: Instant) -> Grant | None:
        if len(scopes_for(risk)) == 1:
            return None
        return self.grants.covering(subject_digest(event, tool), event.turn, now)

    def _join(self, request: Request, event: Event, conn: int, now: Instant) -> list[Effect]:
        silence: Silence = "deny" if request.rewritten else self.standing.silence(event)
        limit_s = self.standing.wait_s(event, now) if silence == "deny" else float("inf")
        if self.broker.join(request, Waiter(conn, event, silence), limit_s, now):
            return self.extended(request, "a connection that waits less long", now)
        return []

    def _hold(self, request: Request, grant: Grant | None, now: Instant) -> list[Effect]:
        effects: list[Effect] = [drafts.about(request, "approval.requested", request.data, now)]
        self.broker.add(request)
        if grant is not None:
            return effects + self._endings.allow_by_grant(request, grant, now)
        if not self.standing.consoles and self.config.approval.unattended == "deny":
            effects += self._endings.nobody(request, "no console is attached", now)
        return effects

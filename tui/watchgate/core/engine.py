"""The engine: events, decisions and time in; records and answers out.

This is the whole product without its descriptors, so a detached core, a hosted console, a test
with a fake clock and a replay run the same code. Every method returns the effects that follow, in
the order in which they must happen.
"""

from __future__ import annotations

from collections.abc import Callable

from watchgate.core import drafts, wording
from watchgate.core.aftermath import TURN_OVER, Aftermath
from watchgate.core.approvals import Broker
from watchgate.core.calls import Call, Calls, summarized
from watchgate.core.clock import Instant
from watchgate.core.config import Config
from watchgate.core.deadlines import wait_s
from watchgate.core.dispatch import Bus, Invoke
from watchgate.core.effects import Commit, Effect, Send
from watchgate.core.endings import Endings, reply_for
from watchgate.core.events import Event, Lane, Tool, ToolBatch, ToolCall, ToolResult
from watchgate.core.grants import Grant, Grants, scopes_for
from watchgate.core.ids import digest
from watchgate.core.policy.assessment import Assessment
from watchgate.core.policy.gate import POLICY, PolicyGate
from watchgate.core.policy.profiles import Profile
from watchgate.core.presets import CONSOLE
from watchgate.core.records import DeadlineData, EffectData, RequestData, Silence, Word
from watchgate.core.requests import Input, Request, Status, Waiter
from watchgate.core.verdicts import Outcome, SayDeny, SayNothing

_DECISIONS = ("allow", "deny", "handback")
_TOO_LATE = "An operator's allow came too late to be recorded in time"


class Engine:
    """One core's logic; `ids` makes a fresh request id each time it is called."""

    def __init__(self, config: Config, gate: PolicyGate, ids: Callable[[], str]) -> None:
        self.config = config
        self.broker = Broker(config.approval.margin_s)
        self.grants = Grants()
        self.consoles = 0
        self.key_seen_s = float("-inf")
        self.journal_lost = ""
        self._gate = gate
        self._ids = ids
        self._calls = Calls()
        self._bus = Bus(CONSOLE, [POLICY])
        self._after = Aftermath(self.broker, self._calls, self.grants)
        self._endings = Endings(self.broker, self._calls, self.grants, config.approval.on_timeout)

    def receive(self, event: Event, conn: int, now: Instant) -> list[Effect]:
        """Take in one event; `conn` names the connection that may wait for an answer."""
        body = event.body
        if isinstance(body, ToolCall) and event.kind in ("tool.pre", "tool.permission"):
            return self._call(event, body.tool, conn, now)
        if isinstance(body, ToolResult):
            effects = self._after.ran(event, body, now)
        else:
            effects = [drafts.note(event)]
            if isinstance(body, ToolBatch):
                effects += self._after.batch_over(event, body, now)
            elif isinstance(body, ToolCall) and event.kind == "tool.permission.resolved":
                effects += self._after.refused(event, body, now)
            elif event.kind in TURN_OVER:
                effects += self._after.turn_over(event, now)
        if event.lane.waits:
            effects.append(Send(conn, event, SayNothing()))
        return effects

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
                request, Input.FAIL, "denied-no-journal", self.journal_lost, now
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
        """End every request whose deadline has passed, as its lane says (AP-2)."""
        effects: list[Effect] = []
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
        """A waiting client's connection ended: nobody is there to be answered (AP-4)."""
        request = self.broker.hung_up(conn)
        if request is None:
            return []
        if request.status is Status.COMMITTING:
            return self._endings.undo(request, Input.HANGUP, "withdrawn", "", now)
        return self._endings.end(request, Input.HANGUP, "withdrawn", "the agent", now)

    def failed(self, conn: int, reason: str, now: Instant) -> list[Effect]:
        """This connection was answered closed for a fault of ours: so ends what it waited for."""
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
        effects: list[Effect] = []
        for request in list(self.broker.open.values()):
            if request.status is Status.COMMITTING:
                effects += self._endings.undo(request, Input.FAIL, word, reason, now)
            else:
                effects += self._endings.end(request, Input.FAIL, word, "watchgate", now, reason)
        return effects

    def console_count(self, count: int, now: Instant) -> list[Effect]:
        """Consoles came or went; without any, `unattended = "deny"` ends what waits (AP-3)."""
        self.consoles = count
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
        return self.broker.next_deadline()

    def _call(self, event: Event, tool: Tool, conn: int, now: Instant) -> list[Effect]:
        call = self._calls.begin(event, tool)
        found = self._gate.assess(event)
        if not event.lane.waits:
            return [drafts.called(event, tool, call, "recorded", found)]
        if call.carried is not None:
            carried = Send(conn, event, reply_for(event, call.carried.reply), call.carried.request)
            return [drafts.called(event, tool, call, "carried", found), carried]
        request = self.broker.open.get(call.request or "")
        if request is not None:
            joined = drafts.called(event, tool, call, "joined", found)
            return [joined, *self._join(request, event, conn, now)]
        outcome = self._dispatch(event, now)
        trace = drafts.traced(event, call, outcome)
        word, reason = self._barred(event, outcome)
        if word is not None:
            call.decided = "deny"
            text = wording.denial(word, reason=reason)
            denied = drafts.called(event, tool, call, "denied", found, word)
            return [denied, trace, Send(conn, event, SayDeny(text))]
        if outcome.decision == "confirm" and found is not None and not self.broker.crowded:
            grant = self._covering(event, tool, found.risk, now)
            limit_s = self._wait_s(event, now)
            if grant is not None or limit_s > 0:
                request = self._request(event, tool, call, conn, found, limit_s, now)
                called = drafts.called(event, tool, call, "held", found)
                return [called, trace, *self._hold(request, grant, now)]
        call.decided = "handback"
        handed = drafts.called(event, tool, call, "handback", found)
        return [handed, trace, Send(conn, event, SayNothing())]

    def _barred(self, event: Event, outcome: Outcome) -> tuple[Word | None, str]:
        """Why the call is denied without being asked about, in its word and its reason."""
        if outcome.decision == "deny":
            return "denied-by-rule", outcome.reason
        if self._silence(event) == "deny":
            if self.journal_lost:
                return "denied-no-journal", self.journal_lost
            if outcome.decision == "confirm" and (crowd := self.broker.crowded):
                return "denied-failure", crowd
        return None, ""

    def _dispatch(self, event: Event, now: Instant) -> Outcome:
        dispatch, step = self._bus.start(event, now)
        while dispatch is not None and isinstance(step, Invoke):
            step = dispatch.feed(step.handler.id, self._gate(step.event), now)
        if isinstance(step, Invoke):
            raise TypeError("a handler was named without a dispatch")
        return step

    def _wait_s(self, event: Event, now: Instant) -> float:
        return wait_s(
            event,
            self.config,
            attended=self.consoles > 0,
            key_age_s=now.mono_s - self.key_seen_s,
            now=now,
        )

    def _silence(self, event: Event) -> Silence:
        strict_read = event.lane is Lane.GATE_READ and self._gate.profile == "strict"
        return "deny" if event.lane is Lane.GATE or strict_read else "handback"

    def _covering(self, event: Event, tool: Tool, risk: str, now: Instant) -> Grant | None:
        if len(scopes_for(risk)) == 1:
            return None
        return self.grants.covering(_subject(event, tool), event.turn, now)

    def _join(self, request: Request, event: Event, conn: int, now: Instant) -> list[Effect]:
        silence = self._silence(event)
        limit_s = self._wait_s(event, now) if silence == "deny" else float("inf")
        if self.broker.join(request, Waiter(conn, event, silence), limit_s, now):
            return self.extended(request, "a connection that waits less long", now)
        return []

    def _hold(self, request: Request, grant: Grant | None, now: Instant) -> list[Effect]:
        effects: list[Effect] = [drafts.about(request, "approval.requested", request.data, now)]
        self.broker.add(request)
        if grant is not None:
            return effects + self._endings.allow_by_grant(request, grant, now)
        if not self.consoles and self.config.approval.unattended == "deny":
            effects += self._endings.nobody(request, "no console is attached", now)
        return effects

    def _request(
        self,
        event: Event,
        tool: Tool,
        call: Call,
        conn: int,
        found: Assessment,
        limit_s: float,
        now: Instant,
    ) -> Request:
        silence = self._silence(event)
        if limit_s <= 0:
            limit_s = self.config.approval.margin_s  # a grant answers; this is for the disk
        data = RequestData(
            digest=_subject(event, tool),
            lane=event.lane,
            native=event.native,
            tool=tool,
            summary=summarized(call, event, tool),
            risk=found.risk,
            rule=found.rule,
            reason=found.reason,
            findings=found.findings,
            opaque=found.opaque,
            cwd=event.cwd,
            mode=event.mode,
            sub=event.sub,
            offered=_DECISIONS + (("stop",) if event.can.stop else ()),
            scopes=scopes_for(found.risk),
            silence=silence,
            asks_again=not event.can.allow,
            runs_unasked=event.runs_unasked,
            deadline_at=now.plus(limit_s).wall_us,
            timeout_s=limit_s,
            agent_pid=event.agent_pid,
            env=event.env,
        )
        call.request, call.decided = self._ids(), None
        return Request(
            id=call.request,
            call=call.ref,
            subject=event,
            data=data,
            opened=now,
            deadline_s=now.mono_s + limit_s,
            waiters=[Waiter(conn, event, silence)],
        )


def _subject(event: Event, tool: Tool) -> str:
    """The digest of exactly what is asked."""
    return digest(
        {
            "agent": event.agent,
            "session": event.session,
            "sub": event.sub_id,
            "tool": tool.native_name,
            "input": tool.input,
            "cwd": event.cwd,
        }
    )

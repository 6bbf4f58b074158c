"""The engine: events, decisions and time in; records and answers out.

This is the whole product without its descriptors, so a detached core, a hosted console, a test
with a fake clock and a replay run the same code. Every method returns the effects that follow, in
the order in which they must happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from watchgate.core import drafts
from watchgate.core.aftermath import TURN_OVER, Aftermath
from watchgate.core.approvals import Broker
from watchgate.core.asking import answerable
from watchgate.core.bus import Bus
from watchgate.core.calls import Calls
from watchgate.core.clock import Instant
from watchgate.core.config import Config
from watchgate.core.coverage import Coverage, Traits
from watchgate.core.deciding import Deciding
from watchgate.core.decisions import Decision
from watchgate.core.editing import check_edit, edited
from watchgate.core.effects import Commit, Effect, Send
from watchgate.core.endings import Endings
from watchgate.core.events import Event, Tool, ToolBatch, ToolCall, ToolResult
from watchgate.core.grants.book import Grants
from watchgate.core.handlers import Handler
from watchgate.core.hearing_room import HearingRoom
from watchgate.core.hearings import Ended, Hearings
from watchgate.core.policy.assessment import Assessment
from watchgate.core.policy.gate import PolicyGate
from watchgate.core.policy.profiles import Profile
from watchgate.core.presence.actor import Actor
from watchgate.core.presets import preset_of
from watchgate.core.raising import FLOW, RETRY
from watchgate.core.records import DeadlineData, EffectData, Word
from watchgate.core.requests import Input, Request, Status
from watchgate.core.standing import Standing
from watchgate.core.verdicts import Report, SayNothing

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
        self._ended = Ended()
        self.coverage = Coverage(traits)
        self._after = Aftermath(self.broker, self._calls, self.grants, self.coverage)
        self._endings = Endings(self.broker, self._calls, self.grants, config.approval.on_timeout)
        self._deciding = Deciding(
            self.broker,
            self._calls,
            self.grants,
            gate,
            self.standing,
            self._endings,
            self.preset,
            ids,
        )
        self._room = HearingRoom(self._hearings, self.preset, gate, self.standing, self._deciding)

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
            self._deciding.pacing.over(event.agent, event.session)
            self._gate.retries.over(event.agent, event.session)
            self._gate.flow.over(event.agent, event.session)
        elif event.lane.waits:
            effects.append(Send(conn, event, SayNothing()))
        return effects

    def ahead(self, event: Event) -> Callable[[], Assessment | None]:
        """Return what judges a large call before it is received; to be called in any thread."""
        return self._gate.ahead(event)

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
        paced = self._paced(request)
        if request.status is Status.COMMITTING:
            return [drafts.decided(request), Commit(request.id), *paced]
        return [drafts.decided(request), *self._endings.tell(request), *paced]

    def edited(self, request: Request, args: dict[str, Any]) -> Request:
        """What a request would become with this input; nothing is changed by that.

        Raises `Refused`.
        """
        return edited(request, args, self._gate, self._ids())

    def edit(
        self, request: Request, args: dict[str, Any], said: Decision, now: Instant
    ) -> tuple[Request, list[Effect]]:
        """Allow a request with another input: the request in its place, decided, and what follows.

        Raises `Refused`, and changes nothing then.
        """
        meant = self.edited(request, args)
        decision = check_edit(said, request, meant, now)
        effects = self._endings.replace(request, meant, said, now)
        decided = self.broker.decide(meant.id, decision, now)
        return decided, effects + self.decided(decided)

    def _paced(self, request: Request) -> list[Effect]:
        """Remember what an operator denied, and pause a session that was denied too often."""
        agent, session = request.subject.agent, request.subject.session
        if request.data.asks != "approval":
            return []
        allowed, now, data = request.status is Status.COMMITTING, request.ending.at, request.data
        rules = {each.rule for each in data.findings}
        found = Assessment("ask", data.risk, data.findings, data.opaque, data.segments)
        runs = allowed or request.status is Status.HANDED_BACK
        if runs and FLOW in rules:
            self._gate.flow.allowed(request.subject)
        if runs:
            self._gate.flow.ran(request.subject, found, now)
        if request.status is Status.HANDED_BACK:
            return []
        if not allowed:
            self._gate.retries.denied(request.subject, found, now)
        pause = self._deciding.pacing.decided(
            agent, session, allowed=allowed, retry=RETRY in rules, now=now
        )
        return [] if pause is None else [drafts.paused(request.subject, pause)]

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
        effects = self._room.expire(now) + self.grants.expire(now)
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

    def extended(
        self, request: Request, by: str, now: Instant, actor: Actor | None = None
    ) -> list[Effect]:
        """Record that a request was given more time."""
        return [drafts.extended(request, by, now, actor)]

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

    @profile.setter
    def profile(self, profile: Profile) -> None:
        self._gate.profile = profile

    def next_deadline(self) -> float | None:
        """When `expire` has to be called next, in monotonic seconds."""
        due = (
            self.broker.next_deadline(),
            self._hearings.next_deadline(),
            self.grants.next_deadline(),
        )
        return min((each for each in due if each is not None), default=None)

    def _call(self, event: Event, tool: Tool, conn: int, now: Instant) -> list[Effect]:
        self.coverage.heard(event, tool)
        call = self._calls.begin(event, tool)
        if not event.lane.waits:
            found = self._gate.assess(event)
            if found is not None:
                self._gate.flow.ran(event, found, now)
            recorded = drafts.called(event, tool, call, "recorded", found)
            return [recorded, *self._room.hear(event, conn, call, now)]
        if not self._bus.gated(event.kind):
            settled = self._deciding.settled(event, call, conn, now)
            if settled is not None:
                return settled
        return self._room.hear(event, conn, call, now)

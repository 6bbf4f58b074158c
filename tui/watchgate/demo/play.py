"""Playing the script without sockets: the engine, a clock that moves when told, counted ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from itertools import count

import msgspec

from watchgate.agents.base import Intake
from watchgate.agents.registry import ADAPTERS
from watchgate.agents.traits import traits_in
from watchgate.core.chain import START, Chain, Row
from watchgate.core.clock import Instant
from watchgate.core.config import Approval, Config
from watchgate.core.decisions import Decision
from watchgate.core.effects import Ask, Commit, Effect, Emit, Send
from watchgate.core.engine import Engine
from watchgate.core.events import Event, Lane
from watchgate.core.ids import request_id
from watchgate.core.policy.gate import PolicyGate
from watchgate.core.records import CoreData, Draft, Record
from watchgate.core.verdicts import SayDeny
from watchgate.demo import costs, hooks
from watchgate.demo.script import HOME, Step, reports, script
from watchgate.service.policy.shipped import shipped

START_WALL_US = 1_795_176_144_000_000
"""Fri 20 Nov 2026, 12:02:24 UTC: the demo's own noon."""

TIMEOUT_S = 60
POLICY_S = 0.0003
"""How long the demo's policy takes over a call."""
CONFIG = Config(approval=Approval(timeout_s=TIMEOUT_S, unattended_timeout_s=TIMEOUT_S))

Decide = Mapping[str, tuple[float, str]]
"""Call id -> (seconds after the call, "allow" | "deny" | "handback")."""


def counted_ids() -> Callable[[], str]:
    """Request ids that are the same in every run."""
    numbers = count(1)
    return lambda: request_id(sha256(b"demo %d" % next(numbers)).digest()[:16])


def policy() -> PolicyGate:
    """The policy as the demo's sessions meet it; each judgement takes as long."""
    return PolicyGate(
        CONFIG.profile,
        lambda _cwd: shipped(),
        home=HOME,
        own=(f"{HOME}/.config/watchgate",),
        timer=count(0.0, POLICY_S).__next__,
    )


class Player:
    """Feeds the script to an engine and collects the records, and the rows of a journal of it."""

    def __init__(self, decide: Decide) -> None:
        self.records: list[Record] = []
        self.rows: list[Row] = []
        self._engine = Engine(
            CONFIG, policy(), counted_ids(), hooks.HANDLERS, traits=traits_in(ADAPTERS)
        )
        self._chain = Chain("demo", START, lambda data: data)
        self._decide = decide
        self._denied: set[str] = set()
        self._start = Instant(START_WALL_US, 0.0)

    def run(self, until_s: float) -> list[Record]:
        """The records of everything up to `until_s`."""
        self._engine.status.consoles = 1
        started = CoreData(what="core started", profile=CONFIG.profile)
        self._seal(Draft(kind="policy.started", at=self._start.plus(-2).wall_us, data=started))
        for at_s, action in sorted(self._actions(), key=lambda each: each[0]):
            if at_s > until_s:
                break
            self._expire(at_s)
            action(self._start.plus(at_s))
        self._expire(until_s)
        return self.records

    def _actions(self) -> Iterator[tuple[float, Callable[[Instant], None]]]:
        for number, step in enumerate(script()):
            yield step.at_s, lambda now, s=step, n=number: self._step(s, n, now)  # type: ignore[misc]
            wanted = self._decide.get(step.call or "")
            if wanted and step.native == "PreToolUse":
                yield (
                    step.at_s + wanted[0],
                    lambda now, s=step, w=wanted[1]: self._answer(s, w, now),  # type: ignore[misc]
                )
        for usage in costs.counted(START_WALL_US):
            yield usage.at_s, lambda _now, t=usage: self._seal(costs.draft(t, START_WALL_US))  # type: ignore[misc]
        for report in reports():
            event = Event(
                kind="usage",
                native="usage",
                agent=report.actor.agent,
                session=report.actor.session,
                lane=Lane.OBSERVE,
                at=self._start.plus(report.at_s),
                body=report.usage,
            )
            yield report.at_s, lambda now, e=event: self._do(self._engine.receive(e, 0, now), now)  # type: ignore[misc]

    def _step(self, step: Step, number: int, now: Instant) -> None:
        if step.native.startswith("PostToolUse") and not self._may_end(step):
            return
        intake = Intake(
            lane=step.lane,
            at=now,
            native=step.native,
            deadline_s=3660.0 if step.lane.waits else None,
        )
        payload = msgspec.json.encode(step.payload)
        event = ADAPTERS[step.actor.agent].decode(payload, intake)
        self._do(self._engine.receive(event, number + 1, now), now)

    def _may_end(self, step: Step) -> bool:
        waiting = {request.call for request in self._engine.broker.open.values()}
        return step.call not in self._denied and step.call not in waiting

    def _answer(self, step: Step, what: str, now: Instant) -> None:
        for request in list(self._engine.broker.open.values()):
            if request.call == step.call:
                decision = Decision(
                    decision=what,  # type: ignore[arg-type]
                    by="operator dev (console 1)",
                    digest=request.data.digest,
                    confirmed=True,
                )
                decided = self._engine.broker.decide(request.id, decision, now)
                self._do(self._engine.decided(decided), now)

    def _expire(self, at_s: float) -> None:
        due = self._engine.next_deadline()
        while due is not None and due <= at_s:
            now = self._start.plus(due)
            self._do(self._engine.expire(now), now)
            due = self._engine.next_deadline()

    def _do(self, effects: list[Effect], now: Instant) -> None:
        for effect in effects:
            match effect:
                case Ask(dispatch_id=hearing, invoke=invoke):
                    left_s = invoke.deadline_s - now.mono_s
                    took_s, report = hooks.played(invoke.handler, invoke.event, left_s)
                    then = now.plus(took_s)
                    self._do(self._engine.on_report(hearing, invoke.handler.id, report, then), then)
                case Emit(draft=draft):
                    self._seal(draft)
                case Commit(request=request):
                    at = self._engine.broker.find(request).ending.at
                    self._do(self._engine.committed(request, True, at), at)
                case Send(event=event, reply=SayDeny()) if event.tool is not None:
                    self._denied.add(event.tool.call_id or "")
                case _:
                    pass

    def _seal(self, draft: Draft) -> None:
        record, row = self._chain.seal(draft)
        self.records.append(record)
        self.rows.append(row)


def play(until_s: float, decide: Decide | None = None) -> list[Record]:
    """The records of the demo up to `until_s`, with these decisions and no others."""
    return Player(decide or {}).run(until_s)

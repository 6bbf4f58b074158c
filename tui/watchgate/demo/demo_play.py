"""Playing the script without sockets: the engine, a clock that moves when told, counted ids.

- The demo's hooks: invented handlers that take their time and never change what is decided.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from hashlib import sha256
from itertools import count
from typing import Final

import anyio
import msgspec

from watchgate.agents.agent_facts import traits_in
from watchgate.agents.base import Intake
from watchgate.agents.registry import ADAPTERS
from watchgate.core.base.clock import Instant
from watchgate.core.base.ids import request_id
from watchgate.core.chain.hash_chain import START, Chain, JournalRow
from watchgate.core.config.config import Approval, Config
from watchgate.core.dispatch.handler_matchers import CommandContains, Matcher, ToolCondition
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.gate.effects import Effect, Emit, RunHandler, Send, SyncJournal
from watchgate.core.gate.engine import Engine
from watchgate.core.gate.operator_decisions import OperatorDecision
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.records import CoreData, Draft, Record
from watchgate.core.model.verdicts import Defer, Failed, Report, Run, SayDeny
from watchgate.core.tools.tool_input import command
from watchgate.demo import demo_costs
from watchgate.demo.demo_script import HOME, ScriptedPayload, reports, script
from watchgate.service.policies.policy_files import shipped
from watchgate.service.runners.handler_runner import CallableRunner

ENV = ("HOME", "LANG", "PATH", "TERM", "TZ", "WATCHGATE_EVENT")
TESTS = "pytest"


class DemoRun(msgspec.Struct, frozen=True):
    """The result of one run of a hook, and after how many milliseconds it comes."""

    ms: float
    report: Report


class DemoHook(msgspec.Struct, frozen=True):
    """One handler with what it does; `plays` depends on the event alone."""

    handler: Handler
    plays: Callable[[Event], DemoRun]


def _quick(ms: float) -> Callable[[Event], DemoRun]:
    return lambda _event: DemoRun(ms, Report(verdict=Defer()))


def _format(event: Event) -> DemoRun:
    """A formatter that is slow where there is much to format."""
    slow = TESTS in _command(event)
    output = "ruff 0.14.5: 3 files left unchanged\n" if slow else ""
    return DemoRun(214.0 if slow else 18.0, _child(event, output))


def _guard(event: Event) -> DemoRun:
    """An extension: its own process, asked over a pipe that others use as well."""
    run = Run(health="running", queue_ms=2.2 if TESTS in _command(event) else 0.0)
    return DemoRun(26.1 if run.queue_ms else 3.4, Report(verdict=Defer(), run=run))


def _push(event: Event) -> DemoRun:
    return DemoRun(31.0, _child(event, "pushes to a branch of its own: left to the operator\n"))


def _notify(event: Event) -> DemoRun:
    """A notifier that hangs when the tests are over."""
    late = TESTS in _command(event)
    return DemoRun(5_000.0 if late else 12.0, _child(event, ""))


def _child(event: Event, stderr: str) -> Report:
    run = Run(exit_code=0, stdin_bytes=540 + len(_command(event)), stderr=stderr, env=ENV)
    return Report(verdict=Defer(), run=run)


def _command(event: Event) -> str:
    return (command(event.tool) or "") if event.tool is not None else ""


_PRE = frozenset({"tool.pre"})
_POST = frozenset({"tool.post", "tool.error"})
_BASH = Matcher((ToolCondition(("Bash",)),))
_FORCED = Matcher((ToolCondition(("Bash",)), CommandContains("push --force")))

HOOKS: Final = (
    DemoHook(Handler(id="redact", on=_PRE, priority=10), _quick(0.4)),
    DemoHook(
        Handler(
            id="./hooks/fmt.sh", on=_PRE, kind="command", priority=40, timeout_s=5, match=_BASH
        ),
        _format,
    ),
    DemoHook(Handler(id="acme-guard", on=_PRE, kind="extension", priority=50, timeout_s=5), _guard),
    DemoHook(
        Handler(
            id="no-force-push", on=_PRE, kind="command", priority=60, timeout_s=5, match=_FORCED
        ),
        _push,
    ),
    DemoHook(Handler(id="budget", on=_PRE, priority=70, disabled=True), _quick(1.0)),
    DemoHook(
        Handler(id="notify", on=_POST, role="observer", kind="command", timeout_s=0.2, match=_BASH),
        _notify,
    ),
)
HANDLERS: Final = tuple(hook.handler for hook in HOOKS)
_PLAYS: Final = {hook.handler.id: hook.plays for hook in HOOKS}


def played(handler: Handler, event: Event, limit_s: float) -> tuple[float, Report]:
    """Returns the seconds a hook takes for an event, at most its limit, and its report."""
    run = _PLAYS[handler.id](event)
    if run.ms / 1000 < limit_s:
        return run.ms / 1000, run.report
    return limit_s, Report(verdict=Failed("timeout", f"no answer in {limit_s:g} s"))


def live(speed: float) -> list[tuple[Handler, CallableRunner]]:
    """The same hooks for a core that runs `speed` times as fast as the real time."""
    return [(hook.handler, CallableRunner(_acting(hook, speed))) for hook in HOOKS]


def _acting(hook: DemoHook, speed: float) -> Callable[[Event], Awaitable[Report]]:
    async def act(event: Event) -> Report:
        run = hook.plays(event)
        await anyio.sleep(run.ms / 1000 / speed)
        return run.report

    return act


START_WALL_US = 1_795_176_144_000_000
"""Fri 20 Nov 2026, 12:02:24 UTC: the demo's own noon."""

TIMEOUT_S = 60
POLICY_S = 0.0003
"""Seconds that the demo's policy takes over a call."""
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


class DemoPlayer:
    """Feeds the script to an engine and collects the records, and the rows of a journal of it."""

    def __init__(self, decide: Decide) -> None:
        self.records: list[Record] = []
        self.rows: list[JournalRow] = []
        self._engine = Engine(CONFIG, policy(), counted_ids(), HANDLERS, traits=traits_in(ADAPTERS))
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
        for usage in demo_costs.counted(START_WALL_US):
            yield usage.at_s, lambda _now, t=usage: self._seal(demo_costs.draft(t, START_WALL_US))  # type: ignore[misc]
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

    def _step(self, step: ScriptedPayload, number: int, now: Instant) -> None:
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

    def _may_end(self, step: ScriptedPayload) -> bool:
        waiting = {request.call for request in self._engine.broker.open.values()}
        return step.call not in self._denied and step.call not in waiting

    def _answer(self, step: ScriptedPayload, what: str, now: Instant) -> None:
        for request in list(self._engine.broker.open.values()):
            if request.call == step.call:
                decision = OperatorDecision(
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
                case RunHandler(dispatch_id=dispatch_id, invoke=invoke):
                    left_s = invoke.deadline_s - now.mono_s
                    took_s, report = played(invoke.handler, invoke.event, left_s)
                    then = now.plus(took_s)
                    self._do(
                        self._engine.on_report(dispatch_id, invoke.handler.id, report, then), then
                    )
                case Emit(draft=draft):
                    self._seal(draft)
                case SyncJournal(request=request):
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
    return DemoPlayer(decide or {}).run(until_s)

"""An engine with a clock, a journal and connections that a test moves by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from tests.core.builders import START
from watchgate.agents.agent_facts import traits_in
from watchgate.agents.registry import ADAPTERS
from watchgate.core.chain.hash_chain import START as EMPTY
from watchgate.core.chain.hash_chain import Chain
from watchgate.core.config.config import Approval, Config
from watchgate.core.dispatch.handler_config import DispatchConfig
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import PresetName
from watchgate.core.gate.effects import Effect, Emit, RunHandler, Send, StopHandlers, SyncJournal
from watchgate.core.gate.engine import Engine
from watchgate.core.gate.operator_decisions import OperatorDecision as Said
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.model.assessment import Assessment, Decision, Finding, Risk, Segment
from watchgate.core.model.events import Event
from watchgate.core.model.records import Record
from watchgate.core.model.requests import ApprovalRequest, Status
from watchgate.core.model.verdicts import Reply, Report, Verdict
from watchgate.core.policy.rules.policy import Policy
from watchgate.core.policy.rules.profiles import Profile
from watchgate.core.state.state import State

RISKS: dict[str, Risk] = {
    "low": "low",
    "medium": "medium",
    "high": "high",
    "critical": "critical",
    "deny": "high",
    "allow": "low",
}


class Rules(PolicyGate):
    """A policy that reads its word off the command: `high x` is of high risk, `deny x` denied.

    `retries` makes it raise what comes again after a denial.
    """

    def __init__(
        self, profile: Profile, *, auto_allow: bool = False, retries: bool = False
    ) -> None:
        super().__init__(profile, _no_policy, home="/home/u", own=(), auto_allow=auto_allow)
        self._raises = retries

    def assess(self, event: Event) -> Assessment | None:
        if event.tool is None or event.kind == "question":
            return super().assess(event)
        word = str(event.tool.input.get("command", "")).split(" ", 1)[0]
        risk = RISKS.get(word, "unknown")
        says: Decision = "deny" if word == "deny" else "allow" if word == "allow" else "ask"
        finding = Finding("test.rule", f"it says {word}", risk, decision=says)
        found = Assessment(says, risk, (finding,), segments=_segments(event, risk, says))
        return self.budgeted(event, self.retries.raised(event, found) if self._raises else found)


def _segments(event: Event, risk: Risk, says: Decision) -> tuple[Segment, ...]:
    command = str(event.tool.input.get("command", "")) if event.tool else ""
    allowed_by = "test.rule" if says == "allow" else ""
    words, span = tuple(command.split()), (0, len(command))
    return (Segment(1, span, words, risk, ("test.rule",), allowed_by),)


def _no_policy(_cwd: str) -> Policy:
    raise AssertionError("the rules of these tests need no policy")


class World:
    """Carries out effects as the hub does, and keeps what came of them."""

    def __init__(
        self,
        profile: Profile = "guard",
        *,
        consoles: int = 1,
        handlers: Iterable[Handler] = (),
        preset: PresetName = "console",
        auto_allow: bool = False,
        retries: bool = False,
        gate: PolicyGate | None = None,
        **approval: Any,
    ) -> None:
        self.now = START
        self.config = Config(
            profile=profile, approval=Approval(**approval), dispatch=DispatchConfig(preset)
        )
        rules = gate or Rules(profile, auto_allow=auto_allow, retries=retries)
        self.gate = rules
        self.engine = Engine(self.config, rules, self._id, handlers, traits=traits_in(ADAPTERS))
        self.broker = self.engine.broker
        self.state = State()
        self.records: list[Record] = []
        self.replies: dict[int, list[Reply]] = {}
        self.sends: list[Send] = []
        self.commits: list[str] = []
        self.asked: list[RunHandler] = []
        self.halted: list[str] = []
        self._chain = Chain("core", EMPTY, lambda data: data)
        self._ids = 0
        self.engine.console_count(consoles, self.now)

    def _id(self) -> str:
        self._ids += 1
        return f"{self._ids:04d}".ljust(26, "k")

    def do(self, effects: list[Effect]) -> list[str]:
        """Carries out effects; the kinds of the records that were emitted."""
        before = len(self.records)
        for effect in effects:
            if isinstance(effect, Emit):
                record, _ = self._chain.seal(effect.draft)
                self.records.append(record)
                self.state.apply(record)
            elif isinstance(effect, SyncJournal):
                self.commits.append(effect.request)
            elif isinstance(effect, RunHandler):
                self.asked.append(effect)
            elif isinstance(effect, StopHandlers):
                self.halted += sorted(effect.handlers)
            else:
                self.sends.append(effect)
                self.replies.setdefault(effect.conn, []).append(effect.reply)
        return [record.kind for record in self.records[before:]]

    def send(self, event: Event, conn: int = 0) -> list[str]:
        """An event arrives now on a connection."""
        event = msgspec.structs.replace(event, at=self.now)
        return self.do(self.engine.receive(event, conn, self.now))

    def says(self, handler: str, verdict: Verdict, **more: Any) -> list[str]:
        """The handler that was asked last under this id says this now."""
        asked = next(a for a in reversed(self.asked) if a.invoke.handler.id == handler)
        report = Report(verdict=verdict, **more)
        return self.do(self.engine.on_report(asked.dispatch_id, handler, report, self.now))

    def ask(self, event: Event, conn: int) -> ApprovalRequest:
        """An event arrives that is held; its request."""
        self.send(event, conn)
        held = self.broker.of_conn(conn)
        assert held is not None, f"connection {conn} was answered: {self.replies.get(conn)}"
        return self.broker.open[held]

    def decide(
        self,
        request: ApprovalRequest,
        decision: Literal["allow", "deny", "handback", "answer"],
        *,
        by: str = "operator ann",
        **more: Any,
    ) -> list[str]:
        """An operator decides, with the right digest and confirmed unless said otherwise."""
        facts = {"digest": request.data.digest, "confirmed": True, **more}
        said = Said(decision=decision, by=by, **facts)
        found = self.broker.decide(request.id, said, self.now)
        return self.do(self.engine.decided(found))

    def edit(self, request: ApprovalRequest, args: dict[str, Any], **more: Any) -> ApprovalRequest:
        """An operator allows another input, with the right digest and confirmed unless said."""
        facts = {"digest": request.data.digest, "confirmed": True, **more}
        said = Said(decision="allow", by="operator ann", **facts)
        edited, effects = self.engine.edit(request, args, said, self.now)
        self.do(effects)
        return edited

    def commit(self, ok: bool = True) -> list[str]:
        """The disk answers for everything that waits for it."""
        waiting, self.commits = self.commits, []
        return [k for each in waiting for k in self.do(self.engine.committed(each, ok, self.now))]

    def allow(self, request: ApprovalRequest, **more: Any) -> list[str]:
        """An operator allows, and it is written."""
        return self.decide(request, "allow", **more) + self.commit()

    def advance(self, seconds: float) -> list[str]:
        """Time passes, and what is due expires."""
        self.now = self.now.plus(seconds)
        return self.do(self.engine.expire(self.now))

    def hang_up(self, conn: int) -> list[str]:
        """The client on a connection goes away."""
        return self.do(self.engine.hung_up(conn, self.now))

    def reply(self, conn: int) -> Reply:
        """The one answer that a connection got."""
        (only,) = self.replies[conn]
        return only

    def ending(self, request: ApprovalRequest) -> dict[str, Any]:
        """The data of the one record of how a request was decided."""
        (only,) = self.all("approval.decided", request)
        return only.data

    def all(self, kind: str, request: ApprovalRequest | None = None) -> list[Record]:
        """The records of a kind, about a request where one is given."""
        wanted = request.id if request else None
        return [r for r in self.records if r.kind == kind and wanted in (None, r.request)]

    @property
    def pending(self) -> set[str]:
        """The ids of the requests that wait for somebody."""
        return {r.id for r in self.broker.open.values() if r.status is Status.PENDING}

"""Deciding again: recorded events, handler verdicts and operator answers through the live path.

A recording is a list of steps in the order in which they came. Decoding, dispatch and broker run
with a clock that only the steps move and with ids that are counted, so the same recording gives the
same records whatever machine, screen or hour it is played on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import msgspec

from watchgate.agents.base import Adapter
from watchgate.agents.traits import traits_in
from watchgate.core.clock import Instant
from watchgate.core.config import Config
from watchgate.core.decisions import Decision
from watchgate.core.effects import Ask, Commit, Effect, Emit, Send
from watchgate.core.engine import Engine
from watchgate.core.events import Lane
from watchgate.core.handlers import Handler
from watchgate.core.policy.gate import PolicyGate
from watchgate.core.policy.policy import Policy
from watchgate.core.records import Draft
from watchgate.core.verdicts import Reply, Report, Verdict
from watchgate.service.frames import Frame, decode_frame
from watchgate.service.framing import Head
from watchgate.service.policy.shipped import shipped

START = Instant(0, 0.0)


class Came(msgspec.Struct, frozen=True, tag="frame", tag_field="step"):
    """A hook frame came over a connection."""

    conn: int
    agent: str
    lane: Lane
    payload: msgspec.Raw
    native: str = ""
    deadline_s: float | None = None


class Said(msgspec.Struct, frozen=True, tag="verdict", tag_field="step"):
    """A handler said this to the newest question that it was asked."""

    handler: str
    verdict: Verdict


class Decided(msgspec.Struct, frozen=True, tag="answer", tag_field="step"):
    """An operator decided what a connection waits for."""

    conn: int
    decision: Literal["allow", "deny", "handback", "answer"]
    reason: str = ""
    answers: tuple[tuple[str, ...], ...] = ()


class Passed(msgspec.Struct, frozen=True, tag="time", tag_field="step"):
    """So many seconds passed."""

    seconds: float


Step = Came | Said | Decided | Passed


class Again(msgspec.Struct, frozen=True):
    """What was recorded, and what each connection was told."""

    drafts: tuple[Draft, ...]
    replies: dict[int, Reply]


def redecide(
    config: Config,
    handlers: Iterable[Handler],
    steps: Iterable[Step],
    adapters: Mapping[str, Adapter],
    *,
    home: str = "/",
    policies: Callable[[str], Policy] = lambda _cwd: shipped(),
) -> Again:
    """Play the steps; raises `DecodeError` for a frame that cannot be read.

    Raises `ValueError` for a step that fits nothing: a handler that was not asked, a connection
    for which nothing waits.
    """
    player = _Player(config, handlers, adapters, home, policies)
    for step in steps:
        player.play(step)
    return Again(tuple(player.drafts), player.replies)


class _Player:
    """Carries out effects as the hub does, without a socket, a disk or a process."""

    def __init__(
        self,
        config: Config,
        handlers: Iterable[Handler],
        adapters: Mapping[str, Adapter],
        home: str,
        policies: Callable[[str], Policy],
    ) -> None:
        gate = PolicyGate(
            config.profile,
            policies,
            home=home,
            own=(),
            auto_allow=config.policy.auto_allow,
        )
        self.drafts: list[Draft] = []
        self.replies: dict[int, Reply] = {}
        self._engine = Engine(config, gate, self._id, handlers, traits=traits_in(adapters))
        self._engine.standing.consoles = 1
        self._adapters = adapters
        self._now = START
        self._ids = 0
        self._asked: dict[str, int] = {}

    def play(self, step: Step) -> None:
        """One step."""
        match step:
            case Came():
                self._do(self._engine.receive(self._event(step), step.conn, self._now))
            case Said():
                hearing = self._asked.pop(step.handler, None)
                if hearing is None:
                    raise ValueError(f"handler {step.handler} was not asked here")
                report = Report(verdict=step.verdict)
                self._do(self._engine.heard(hearing, step.handler, report, self._now))
            case Decided():
                self._decide(step)
            case Passed():
                self._now = self._now.plus(step.seconds)
                self._do(self._engine.expire(self._now))

    def _event(self, step: Came) -> Any:
        head = Head(
            agent=step.agent,
            lane=step.lane,
            length=len(bytes(step.payload)),
            native=step.native,
            deadline_s=step.deadline_s,
        )
        return decode_frame(Frame(head, bytes(step.payload), 0, self._now), self._adapters)

    def _decide(self, step: Decided) -> None:
        broker = self._engine.broker
        request = broker.open.get(broker.of_conn(step.conn) or "")
        if request is None:
            raise ValueError(f"nothing waits for connection {step.conn} here")
        said = Decision(
            decision=step.decision,
            digest=request.data.digest,
            by="operator",
            reason=step.reason,
            confirmed=True,
            answers=step.answers,
        )
        self._do(self._engine.decided(broker.decide(request.id, said, self._now)))

    def _do(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Emit(draft=draft):
                    self.drafts.append(draft)
                case Commit(request=request):
                    self._do(self._engine.committed(request, ok=True, now=self._now))
                case Ask(hearing=hearing, invoke=invoke):
                    self._asked[invoke.handler.id] = hearing
                case Send(conn=conn, reply=reply, request=request):
                    self.replies[conn] = reply
                    if request is not None:
                        self._do(self._engine.sent(request, delivered=True, now=self._now))
                case _:
                    pass

    def _id(self) -> str:
        self._ids += 1
        return f"{self._ids:026d}"

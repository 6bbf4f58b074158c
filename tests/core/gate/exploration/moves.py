"""Everything that can happen next: what changes something, and what must be refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from tests.core.builders import BELOW
from tests.core.gate.exploration.cast import AFTER, ASKS, CONSOLES, RAN, short
from tests.core.gate.exploration.scopes import What
from tests.core.gate.exploration.situation import Situation
from watchgate.core.gate.effects import Effect
from watchgate.core.gate.operator_decisions import OperatorDecision
from watchgate.core.model.requests import ApprovalRequest, RefusalCode, Status

NOBODY: Final = "0" * 26
WRONG: Final = "0" * 64


class Move(msgspec.Struct, frozen=True):
    """One thing that happens, to a connection or to a request."""

    what: What
    conn: int = 0
    request: str = ""

    def __str__(self) -> str:
        who = f"connection {self.conn} " if self.conn else ""
        return f"{who}{self.what}{' ' if self.request else ''}{short(self.request)}"


class Refusal(msgspec.Struct, frozen=True):
    """A decision that must not be taken, and the word for why."""

    request: str
    said: OperatorDecision
    code: RefusalCode

    def __str__(self) -> str:
        said, digest = self.said, {None: "no", WRONG: "a wrong"}.get(self.said.digest, "its")
        return f"{said.by} says {said.decision} to {short(self.request)} with {digest} digest"


def moves(now: Situation) -> Iterator[Move]:
    """What can happen in the scope of the situation and may change something."""
    without = now.scope.without
    return (each for each in _moves(now) if each.what not in without)


def _moves(now: Situation) -> Iterator[Move]:
    if now.stopped:
        return
    for conn, at in now.at.items():
        if at == "not yet" and now.at.get(AFTER.get(conn, 0), "over") != "not yet":
            yield Move("asks", conn)
        if at == "waits":
            yield Move("hangs up", conn)
            yield Move("fails", conn)
    for conn in now.scope.ran:
        if now.at.get(conn, "not yet") != "not yet" and conn not in now.ran:
            yield Move("ran it", conn)
    for request in now.broker.open.values():
        yield from _decisions(now, request)
    due_s = now.engine.next_deadline()
    if due_s is not None:
        yield Move("time passes" if now.now.mono_s < due_s else "expire")
    if now.consoles:
        yield Move("a console leaves")
    yield Move("the core stops")


def _decisions(now: Situation, request: ApprovalRequest) -> Iterator[Move]:
    if request.status is Status.COMMITTING:
        yield Move("written", 0, request.id)
        yield Move("not written", 0, request.id)
    elif now.now.mono_s < request.deadline_s:
        yield Move("allow", 0, request.id)
        if "session" in request.data.scopes:
            yield Move("allow for the session", 0, request.id)
        yield Move("deny", 0, request.id)
        yield Move("handback", 0, request.id)


def make(now: Situation, move: Move) -> list[Effect]:
    """Has it happen; what the engine wants done."""
    happen = _HAPPENS.get(move.what, _decide)
    return happen(now, move)


def _asks(now: Situation, move: Move) -> list[Effect]:
    now.asking.conn = move.conn
    event = msgspec.structs.replace(ASKS[move.conn], at=now.now)
    return now.engine.receive(event, move.conn, now.now)


def _ran_it(now: Situation, move: Move) -> list[Effect]:
    now.ran |= {move.conn}
    return now.engine.receive(msgspec.structs.replace(RAN[move.conn], at=now.now), 0, now.now)


def _time_passes(now: Situation, _: Move) -> list[Effect]:
    due_s = now.engine.next_deadline() or now.now.mono_s
    now.now = now.now.plus(due_s - now.now.mono_s)
    return []


def _console_leaves(now: Situation, _: Move) -> list[Effect]:
    now.consoles -= 1
    return now.engine.console_count(now.consoles, now.now)


def _core_stops(now: Situation, _: Move) -> list[Effect]:
    now.stopped = True
    return now.engine.close_all("denied-core-stopped", "bye", now.now)


def _decide(now: Situation, move: Move) -> list[Effect]:
    said = _said(move, now.requests()[move.request])
    return now.engine.decided(now.broker.decide(move.request, said, now.now))


_HAPPENS: Final[dict[What, Callable[[Situation, Move], list[Effect]]]] = {
    "asks": _asks,
    "hangs up": lambda now, move: now.engine.hung_up(move.conn, now.now),
    "fails": lambda now, move: now.engine.failed(move.conn, "a fault", now.now),
    "ran it": _ran_it,
    "written": lambda now, move: now.engine.committed(move.request, True, now.now),
    "not written": lambda now, move: now.engine.committed(move.request, False, now.now),
    "time passes": _time_passes,
    "expire": lambda now, _: now.engine.expire(now.now),
    "a console leaves": _console_leaves,
    "the core stops": _core_stops,
}
"""What is no decision of a console."""


def _said(move: Move, request: ApprovalRequest) -> OperatorDecision:
    """Whichever console decides first is called the first one: nothing depends on the name."""
    lasts = move.what == "allow for the session"
    return OperatorDecision(
        decision="allow" if lasts else move.what,  # type: ignore[arg-type]  # one of the three
        by=CONSOLES[0],
        digest=request.data.digest,
        scope="session" if lasts else "once",
        confirmed=True,
    )


def refusals(now: Situation) -> Iterator[Refusal]:
    """Decisions of both consoles, of what they may have seen at any time, that must be refused.

    A console knows a request by its id and digest, which never change: whatever it saw and however
    old that is, it can say no more than these.
    """
    for console in CONSOLES:
        yield Refusal(
            NOBODY, OperatorDecision(decision="allow", by=console, digest=WRONG), "unknown_id"
        )
        for request in now.requests().values():
            yield from _refusals(now, request, console)


def _refusals(now: Situation, request: ApprovalRequest, console: str) -> Iterator[Refusal]:
    right: dict[str, Any] = {"by": console, "digest": request.data.digest, "confirmed": True}
    whole: list[OperatorDecision] = [
        OperatorDecision(decision="allow", **right),
        OperatorDecision(decision="deny", **right),
        OperatorDecision(decision="handback", **right),
    ]
    over: RefusalCode | None = None
    if request.status is not Status.PENDING:
        over = "already_settled"
    elif now.now.mono_s >= request.deadline_s:
        over = "too_late"
    if over is not None:
        yield from (Refusal(request.id, said, over) for said in whole)
        return
    wrong: list[tuple[dict[str, Any], RefusalCode]] = [
        ({"digest": WRONG}, "digest_mismatch"),
        ({"digest": None}, "bad_request"),
        ({"proof": BELOW}, "self_approval"),
        ({"shown_ms": 100}, "not_armed"),
        ({"scope": "until the end of time"}, "not_offered"),
        ({"decision": "answer"}, "not_offered"),
    ]
    for differs, code in wrong:
        yield Refusal(
            request.id, OperatorDecision(**{"decision": "allow", **right, **differs}), code
        )

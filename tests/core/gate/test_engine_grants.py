"""AP-8: an allow for longer than once covers equal calls, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.builders import other, permission, pre, shell, sub
from tests.core.world import RISKS, World
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.events import Event
from watchgate.core.model.requests import ApprovalRequest
from watchgate.core.model.verdicts import SayAllow, SayNothing

N = "medium x"


def ask(world: World, conn: int, command: str = N, **fields: Any) -> Event:
    event = pre(shell(command, f"c{conn}"), **{"turn": "t1", **fields})
    world.send(event, conn)
    return event


def grant(world: World, scope: str = "session", **fields: Any) -> ApprovalRequest:
    ask(world, 1, **fields)
    request = world.broker.open[world.broker.of_conn(1) or ""]
    world.allow(request, scope=scope)
    return request


def test_ap_8_a_grant_covers_later_equal_calls_of_the_session() -> None:
    world = World("strict")
    given = grant(world)
    ask(world, 2)
    assert 2 not in world.replies
    world.commit()
    assert world.reply(2) == SayAllow()
    ending = world.all("approval.decided")[-1].data
    assert (ending["word"], ending["by"]) == (
        "allowed-by-grant",
        f"grant #{given.id[:4]} of operator ann",
    )
    assert world.state.grants[given.id].hits == 1
    assert world.state.totals.allowed_by_grant == 1


def test_ap_8_a_grant_releases_the_equal_calls_that_wait() -> None:
    world = World("strict")
    for conn in (1, 2, 3):
        ask(world, conn)
    ask(world, 4, "medium y")
    first = next(iter(world.broker.open.values()))
    world.decide(first, "allow", scope="session")
    world.commit()
    world.commit()
    assert [world.reply(conn) for conn in (1, 2, 3)] == [SayAllow()] * 3
    assert len(world.pending) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"command": "medium x y"},
        {"command": "medium"},
        {"session": "two"},
        {"agent": "codex"},
        {"cwd": "/"},
        {"sub": sub()},
    ],
)
def test_ap_8_equal_is_the_exact_subject(fields: dict[str, Any]) -> None:
    world = World("strict")
    grant(world)
    ask(world, 2, **fields)
    assert len(world.pending) == 1


def test_ap_8_what_is_shown_and_allowed_is_the_call_of_one_session() -> None:
    world = World("strict")
    for conn, session in enumerate(("one", "two"), 1):
        ask(world, conn, session=session)
    digests = {request.data.digest for request in world.broker.open.values()}
    assert len(digests) == 2


@pytest.mark.parametrize("risk", ["high", "critical", "unknown"])
def test_ap_8_grave_and_unknown_calls_are_never_granted(risk: str) -> None:
    world = World("strict")
    ask(world, 1, risk)
    request = next(iter(world.broker.open.values()))
    assert request.data.scopes == ("once",)
    with pytest.raises(Refused, match="not offered"):
        world.decide(request, "allow", scope="session")


def test_ap_8_a_grant_does_not_cover_what_is_judged_graver_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World("strict")
    grant(world)
    monkeypatch.setitem(RISKS, "medium", "high")
    ask(world, 2)
    assert len(world.pending) == 1


def test_ap_8_a_grant_lasts_as_long_as_its_scope() -> None:
    for scope, kind, turn in (
        ("turn", "turn.end", "t1"),
        ("session", "session.end", "t1"),
        ("turn", "notice", "t2"),
    ):
        world = World("strict")
        grant(world, scope)
        world.send(other(kind))  # type: ignore[arg-type]
        ask(world, 2, turn=turn)
        assert len(world.pending) == 1, scope


def test_ap_8_a_grant_of_15_minutes_ends_after_them() -> None:
    world = World("strict")
    grant(world, "15m")
    world.advance(899)
    ask(world, 2)
    world.commit()
    assert world.reply(2) == SayAllow()
    world.advance(1)
    ask(world, 3)
    assert len(world.pending) == 1


def test_once_is_once() -> None:
    world = World("strict")
    grant(world, "once")
    ask(world, 2)
    assert len(world.pending) == 1


@pytest.mark.parametrize("ending", ["lost", "late", "hang-up"])
def test_a_grant_whose_allow_was_never_told_is_not_in_force(ending: str) -> None:
    world = World("strict")
    ask(world, 1)
    ask(world, 2)
    first = next(iter(world.broker.open.values()))
    world.decide(first, "allow", scope="session")
    if ending == "hang-up":
        world.hang_up(1)
    elif ending == "late":
        world.advance(300)
    world.commit(ok=ending != "lost")
    assert world.state.grants == {}
    assert SayAllow() not in world.replies.get(1, []) + world.replies.get(2, [])


def test_a_grant_also_answers_a_relay_that_nobody_would_have_been_asked_about() -> None:
    world = World()
    world.engine.status.last_key_s = world.now.mono_s
    request = world.ask(permission(shell(N), races=False, agent="codex"), 1)
    world.allow(request, scope="session")
    world.advance(3600)
    world.send(permission(shell(N), races=False, agent="codex"), 2)
    world.commit()
    assert world.reply(2) == SayAllow()
    world.send(permission(shell("medium y"), races=False, agent="codex"), 3)
    assert world.reply(3) == SayNothing()


def test_a_grant_needs_the_disk_as_every_allow_does() -> None:
    world = World("strict")
    grant(world)
    ask(world, 2)
    world.commit(ok=False)
    assert world.state.totals.allowed_by_grant == 0
    assert world.all("effect.undelivered")[0].data["word"] == "denied-no-journal"

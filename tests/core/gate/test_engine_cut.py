"""Hearings that end before their time: what is told, and what the records say of it."""

from __future__ import annotations

from typing import Any

from tests.core.builders import other, permission, post, pre, shell
from tests.core.world import World
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.model.events import Lane
from watchgate.core.model.verdicts import Defer, SayDeny, SayNothing

GUARD = Handler(id="guard", on=frozenset({"tool.pre", "tool.permission"}))


def gates(world: World) -> list[tuple[str, str, str]]:
    """Lane, gate and word of every record of a call."""
    calls = [r.data for r in world.records if r.kind in ("tool.pre", "tool.permission")]
    return [(call["lane"], call["gate"], call.get("word") or "") for call in calls]


def stop(world: World) -> list[str]:
    return world.do(world.engine.close_all("denied-core-stopped", "stopped", world.now))


def low(world: World, conn: int, **fields: Any) -> None:
    world.send(pre(shell("low", "c1"), **fields), conn)


def test_a_call_that_is_only_observed_is_recorded_once_although_the_core_stops() -> None:
    world = World(handlers=[GUARD])
    low(world, 0, lane=Lane.OBSERVE)
    stop(world)
    assert gates(world) == [("observe", "recorded", "")]


def test_nobody_is_asked_about_a_call_of_a_session_that_ended_meanwhile() -> None:
    world = World("strict", handlers=[GUARD])
    low(world, 1)
    world.send(other("session.end"))
    assert isinstance(world.replies[1][0], SayDeny)
    assert world.halted == ["guard"]
    world.says("guard", Defer())
    assert world.pending == set()


def test_ap_7_nobody_is_asked_about_a_call_that_ran_meanwhile() -> None:
    world = World("strict", handlers=[GUARD])
    low(world, 1)
    world.send(post(shell("low", "c1")))
    assert isinstance(world.replies[1][0], SayDeny)
    assert gates(world) == [("gate", "denied", "answered-elsewhere")]
    assert world.pending == set()


def test_a_client_that_was_answered_closed_while_it_waited_was_denied_and_not_withdrawn() -> None:
    world = World(handlers=[GUARD])
    low(world, 1)
    world.do(world.engine.failed(1, "a fault of ours", world.now))
    assert gates(world) == [("gate", "denied", "denied-failure")]
    assert "effect.contradicted" in world.send(post(shell("low", "c1")))


def test_each_connection_of_a_dispatch_has_its_own_record_of_how_it_ended() -> None:
    world = World(handlers=[GUARD])
    low(world, 1, lane=Lane.GATE_READ)
    low(world, 2)
    stop(world)
    assert gates(world) == [
        ("gate-read", "handback", "handed-back"),
        ("gate", "denied", "denied-core-stopped"),
    ]
    assert world.replies[1] == [SayNothing()]
    assert isinstance(world.replies[2][0], SayDeny)


def test_a_relay_that_is_cut_short_is_handed_back_and_traced_so() -> None:
    world = World(handlers=[GUARD])
    world.send(permission(shell("low", "c1")), 1)
    stop(world)
    assert gates(world) == [("relay", "handback", "handed-back")]
    (trace,) = world.all("hook.trace")
    assert trace.data["decision"] == "none"

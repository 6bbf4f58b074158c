"""What later events of a decided call confirm or contradict."""

from __future__ import annotations

import pytest

from tests.core.builders import batch, other, permission, post, pre, resolved, shell
from tests.core.world import World

C1 = shell(call_id="c1")


def effects(world: World) -> list[tuple[str, str, str]]:
    return [
        (record.kind, record.data["word"], record.data.get("alarm") or record.data["what"])
        for record in world.records
        if record.kind in ("effect.confirmed", "effect.contradicted")
    ]


def denied(world: World) -> None:
    world.decide(world.ask(pre(C1), 1), "deny")


def test_an_allowed_call_that_runs_is_confirmed() -> None:
    world = World()
    request = world.ask(pre(C1), 1)
    world.allow(request)
    world.send(post(C1))
    assert effects(world) == [("effect.confirmed", "allow", "ran as approved")]
    assert world.records[-1].request == request.id
    assert world.state.rows[0].stage == "done"


@pytest.mark.parametrize("ok", [True, False])
def test_a_denied_call_that_runs_is_an_alarm(ok: bool) -> None:
    world = World()
    denied(world)
    world.send(post(C1, ok=ok))
    assert effects(world) == [("effect.contradicted", "deny", "DENIED BUT RAN")]
    row = world.state.rows[0]
    assert (row.stage, row.alarm, world.state.totals.alarms) == ("DENIED BUT RAN", True, 1)


def test_silence_and_rules_deny_just_as_much() -> None:
    world = World()
    world.ask(pre(C1), 1)
    world.advance(300)
    world.send(pre(shell("deny x", "c2")), 2)
    world.send(post(C1))
    world.send(post(shell("deny x", "c2")))
    assert [alarm for _, _, alarm in effects(world)] == ["DENIED BUT RAN"] * 2


def test_an_approved_call_that_ran_with_another_input_is_an_alarm() -> None:
    world = World()
    world.allow(world.ask(pre(C1), 1))
    world.send(post(shell("high z", "c1")))
    assert effects(world) == [("effect.contradicted", "allow", "RAN ALTERED")]


def test_a_denied_call_of_which_nothing_is_heard_is_confirmed_at_the_end_of_the_turn() -> None:
    for event in (other("turn.end"), batch(C1), resolved(C1)):
        world = World()
        denied(world)
        world.send(event)
        assert effects(world) == [("effect.confirmed", "deny", "no sign that it ran")]
        world.send(other("turn.end"))
        assert len(effects(world)) == 1


def test_an_interrupted_denied_call_is_no_alarm() -> None:
    world = World()
    denied(world)
    world.send(post(C1, ok=False, interrupted=True))
    assert effects(world) == []


def test_a_call_that_was_let_go_says_nothing_about_a_decision() -> None:
    world = World()
    world.send(pre(shell("medium", "a")), 1)
    world.decide(world.ask(pre(shell("high", "b")), 2), "handback")
    world.ask(pre(shell("high y", "c")), 3)
    world.hang_up(3)
    for tool in (shell("medium", "a"), shell("high", "b"), shell("high y", "c")):
        world.send(post(tool))
    assert effects(world) == []


def test_a_call_that_nobody_saw_begin_ran_ungated() -> None:
    world = World()
    world.send(post(C1))
    assert world.all("tool.post")[0].data["ungated"] is True
    assert world.state.rows[0].stage == "ran ungated"


def test_of_equal_calls_without_ids_the_allowed_one_ran_and_one_more_run_is_an_alarm() -> None:
    world = World()
    one, two = world.ask(pre(shell()), 1), world.ask(pre(shell()), 2)
    world.allow(one)
    world.decide(two, "deny")
    world.send(post(shell()))
    assert effects(world) == [("effect.confirmed", "allow", "ran as approved")]
    world.send(post(shell()))
    assert effects(world)[1:] == [("effect.contradicted", "deny", "DENIED BUT RAN")]


def test_a_relay_that_silence_handed_back_may_run() -> None:
    world = World()
    world.ask(permission(C1), 1)
    world.advance(4000)
    world.send(post(C1))
    assert effects(world) == []

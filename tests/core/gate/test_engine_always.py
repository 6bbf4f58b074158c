"""An allow for good, from the request that it answers to its end, as records tell it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.builders import other, pre, shell
from tests.core.world import World
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.records import CoreData, Draft
from watchgate.core.model.requests import ApprovalRequest
from watchgate.core.model.standing_grant import UNUSED_US, GrantRule
from watchgate.core.model.verdicts import SayAllow


def ask(world: World, conn: int, command: str, **fields: Any) -> None:
    world.send(pre(shell(command, f"c{conn}"), **{"turn": "t1", **fields}), conn)


def held(world: World, conn: int, command: str, **fields: Any) -> ApprovalRequest:
    ask(world, conn, command, **fields)
    return world.broker.open[world.broker.of_conn(conn) or ""]


def always(world: World, conn: int = 4, *rules: GrantRule) -> ApprovalRequest:
    request = held(world, conn, "medium build d")
    world.allow(request, scope="always", rules=rules)
    return request


def test_always_is_offered_from_the_first_request_and_answers_from_then_on() -> None:
    world = World("strict")
    request = always(world)
    (given,) = world.all("grant.given")
    (rule,) = given.data["rules"]
    assert (rule["words"], rule["more"], rule["tool"]) == (("medium", "build"), True, "Bash")
    assert (given.data["folder"], given.data["answers"]) == ("/home/u/app", ("test.rule",))
    ask(world, 5, "medium build e", session="two", turn="t7")
    world.commit()
    assert world.reply(5) == SayAllow()
    ending = world.all("approval.decided")[-1].data
    assert ending["word"] == "allowed-by-grant"
    assert ending["by"] == f"grant #{request.id[:4]} of operator ann"
    assert [each.data["hits"] for each in world.all("grant.used")] == [1]
    assert world.state.grants[request.id].hits == 1


def test_what_waits_and_is_equal_is_released_with_it() -> None:
    world = World("strict")
    waiting = held(world, 8, "medium build x")
    held(world, 9, "medium other")
    always(world)
    world.commit()
    assert world.reply(8) == SayAllow()
    assert world.ending(waiting)["word"] == "allowed-by-grant"
    assert len(world.pending) == 1


def test_an_edited_rule_is_the_one_in_force() -> None:
    world = World("strict")
    always(world, 4, GrantRule(words=("medium", "build", "d")))
    ask(world, 5, "medium build e")
    assert len(world.pending) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [(("rm",), "covers no part of this call"), ((), "covers no part of this call")],
)
def test_a_rule_that_is_not_about_the_call_is_refused_and_nothing_changes(
    words: tuple[str, ...], says: str
) -> None:
    world = World("strict")
    request = held(world, 4, "medium build d")
    with pytest.raises(Refused, match=says) as refused:
        world.decide(request, "allow", scope="always", rules=(GrantRule(words=words, more=True),))
    assert refused.value.code == "bad_request"
    assert request.id in world.pending


def test_only_an_allow_for_good_has_rules() -> None:
    world = World("strict")
    request = held(world, 1, "medium build")
    rule = GrantRule(words=("medium", "build"))
    with pytest.raises(Refused) as refused:
        world.decide(request, "allow", rules=(rule,))
    assert refused.value.code == "bad_request"


def test_grave_calls_are_asked_however_often_they_were_allowed() -> None:
    world = World("strict")
    for conn in range(1, 6):
        request = held(world, conn, "high build")
        assert request.data.scopes == ("once",)
        world.allow(request)


def test_it_outlives_the_session_and_ends_when_it_is_not_used_for_30_days() -> None:
    world = World("strict")
    request = always(world)
    world.send(other("session.end"))
    assert request.id in world.state.grants
    world.advance(UNUSED_US / 1_000_000 - 1)
    assert request.id in world.state.grants
    world.advance(1)
    assert world.state.grants == {}
    assert world.all("grant.expired")[0].data["why"] == "it was not used for 30 days"
    ask(world, 9, "medium build z", session="two")
    assert len(world.pending) == 1


def test_the_end_of_a_turn_or_session_is_told_of_its_grants() -> None:
    world = World("strict")
    world.allow(held(world, 1, "medium a"), scope="turn")
    world.allow(held(world, 2, "medium b"), scope="session")
    assert [view.scope for view in world.state.grants.values()] == ["turn", "session"]
    world.send(other("turn.end"))
    assert [view.scope for view in world.state.grants.values()] == ["session"]
    world.send(other("session.end"))
    assert world.state.grants == {}


def test_a_grant_of_15_minutes_leaves_the_screen_by_itself() -> None:
    world = World("strict")
    world.allow(held(world, 1, "medium a"), scope="15m")
    assert world.engine.next_deadline() == world.now.mono_s + 900
    world.advance(900)
    assert world.state.grants == {}


def test_a_core_that_starts_has_the_grants_that_were_kept_and_no_others() -> None:
    world = World("strict")
    kept = always(world).id
    world.allow(held(world, 8, "medium b"), scope="session")
    views = world.engine.grants.permanent()
    again = World("strict")
    again.state = world.state  # what a journal of both would tell
    again._chain = world._chain
    again.do([_started(again)])
    assert again.state.grants == {}
    again.do(again.engine.grants.restore(views, again.now))
    assert list(again.state.grants) == [kept]
    ask(again, 5, "medium build e")
    again.commit()
    assert again.reply(5) == SayAllow()


def _started(world: World) -> Any:
    from watchgate.core.gate.effects import Emit

    data = CoreData(what="core started", profile="strict")
    return Emit(Draft(kind="policy.started", at=world.now.wall_us, data=data))

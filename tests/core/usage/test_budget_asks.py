"""What the policy would let run by itself is asked once a budget is used up."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.core.builders import ONLY_DENIES, other, permission, post, pre, shell
from tests.core.world import World
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.records import BudgetData
from watchgate.core.model.verdicts import SayAllow, SayDeny, SayNothing
from watchgate.core.usage.budget import RULE, apply_budget

DAY = BudgetData(
    scope="day",
    level="used-up",
    spent_usd=20.4,
    limit_usd=20,
    day=1,
    asks=True,
    is_lower_bound=True,
)
WHY = "today's budget is used up: $20.40 of $20.00 (at least)"


def over(data: BudgetData = DAY, key: tuple[str, str] = ("", ""), **more: Any) -> World:
    """A world in which a budget stands like this."""
    world = World(**more)
    apply_budget(world.gate.budgets, data, key)
    return world


def unasked(command: str, **more: Any) -> Event:
    """A call that the agent would run, had it no answer."""
    return pre(shell(command, "c1"), runs_unasked=True, **more)


def test_a_rules_allow_becomes_a_question() -> None:
    world = over(auto_allow=True)
    request = world.ask(pre(shell("allow x", "c1")), 1)
    assert (request.data.rule, request.data.reason) == (RULE, WHY)
    assert request.data.risk == "low"
    assert [each.rule for each in request.data.findings] == [RULE, "test.rule"]
    assert 1 not in world.replies
    (called,) = world.all("tool.pre")
    assert (called.data["gate"], called.data["rule"], called.data["reason"]) == ("held", RULE, WHY)


@pytest.mark.parametrize("command", ["low x", "medium x", "allow x"])
def test_a_handback_that_would_just_run_becomes_a_question(command: str) -> None:
    request = over().ask(unasked(command), 1)
    assert request.data.rule == RULE
    assert request.data.runs_unasked


@pytest.mark.parametrize("command", ["low x", "medium x", "allow x"])
def test_a_handback_to_an_agent_that_asks_by_itself_stays_one(command: str) -> None:
    world = over()
    world.send(pre(shell(command, "c1")), 1)
    assert world.reply(1) == SayNothing()
    assert world.all("tool.pre")[0].data["rule"] == "test.rule"


def test_a_denial_stays_a_denial() -> None:
    world = over()
    world.send(unasked("deny x"), 1)
    assert isinstance(world.reply(1), SayDeny)
    assert world.all("tool.pre")[0].data["rule"] == "test.rule"


@pytest.mark.parametrize("event", [unasked("high x"), permission(shell("low x"))])
def test_what_is_asked_anyhow_is_asked_for_its_own_reason(event: Event) -> None:
    assert over().ask(event, 1).data.rule == "test.rule"


@pytest.mark.parametrize(
    "event", [unasked("low x", lane=Lane.OBSERVE), other("turn.end"), post(shell("low x", "c1"))]
)
def test_what_is_only_watched_is_not_asked(event: Event) -> None:
    world = over()
    world.send(event, 0)
    assert not world.broker.open
    assert RULE not in {record.data.get("rule") for record in world.records}


def test_in_watch_nothing_is_asked() -> None:
    world = over(profile="watch", auto_allow=True)
    world.send(unasked("allow x"), 1)
    assert world.reply(1) == SayNothing()


def test_an_agent_that_cannot_be_told_an_allow_is_asked_where_it_would_run() -> None:
    world = over(auto_allow=True)
    assert world.ask(unasked("allow x", can=ONLY_DENIES), 1).data.rule == RULE


@pytest.mark.parametrize(
    "data",
    [
        replace(DAY, asks=False),
        replace(DAY, level="warned"),
        replace(DAY, level="free", spent_usd=0),
    ],
)
def test_a_budget_that_is_only_told_changes_nothing(data: BudgetData) -> None:
    world = over(data, auto_allow=True)
    world.send(pre(shell("allow x", "c1")), 1)
    world.commit()
    assert world.reply(1) == SayAllow()


def test_a_sessions_budget_is_about_that_session() -> None:
    event = unasked("low x")
    world = over(replace(DAY, scope="session", day=0), (event.agent, event.session))
    assert world.ask(event, 1).data.rule == RULE
    world.send(replace(unasked("low x"), session="another"), 2)
    assert world.reply(2) == SayNothing()


def test_a_budget_that_is_free_again_asks_no_more() -> None:
    world = over()
    world.ask(unasked("low x"), 1)
    apply_budget(world.gate.budgets, replace(DAY, level="free", asks=False, day=2), ("", ""))
    world.send(pre(shell("low y", "c2"), runs_unasked=True), 2)
    assert world.reply(2) == SayNothing()


def test_what_an_operator_granted_stays_granted() -> None:
    world = World()
    world.allow(world.ask(permission(shell("medium x")), 1), scope="session")
    apply_budget(world.gate.budgets, DAY, ("", ""))
    world.send(unasked("medium x"), 2)
    world.commit()
    assert world.reply(2) == SayAllow()


def test_a_grant_for_good_stays_one_and_can_be_given_over_the_budget() -> None:
    world = World()
    for number in range(3):
        world.allow(world.ask(permission(shell("medium x")), number), scope="once")
    request = world.ask(permission(shell("medium x")), 5)
    assert "always" in request.data.scopes
    world.allow(request, scope="always")
    apply_budget(world.gate.budgets, DAY, ("", ""))
    world.send(unasked("medium x"), 6)
    world.commit()
    assert world.reply(6) == SayAllow()


def test_an_answer_over_the_budget_can_be_for_the_session() -> None:
    world = over()
    world.allow(world.ask(unasked("low x"), 1), scope="session")
    world.send(pre(shell("low x", "c2"), runs_unasked=True), 2)
    world.commit()
    assert world.reply(2) == SayAllow()

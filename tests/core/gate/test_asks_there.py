"""Who asks in its own terminal: an agent after a handback, a prompt that it shows, a notice."""

from __future__ import annotations

from typing import Literal

import msgspec
import pytest

from tests.core.builders import other, permission, post, pre, shell
from tests.core.world import World
from watchgate.core.model.events import Can, Text
from watchgate.core.model.sessions import SessionState

Answered = Literal["allow", "deny", "handback"]
THERE = SessionState.NEEDS_THERE


def shown(world: World) -> SessionState:
    (view,) = world.state.sessions.values()
    return view.shown


def held() -> tuple[World, str]:
    world = World("strict")
    return world, world.ask(pre(shell("high", "a")), 1).id


@pytest.mark.parametrize(
    ("decision", "after"),
    [("handback", THERE), ("deny", SessionState.WORKING), ("allow", SessionState.WORKING)],
)
def test_what_is_handed_back_is_asked_there(decision: Answered, after: SessionState) -> None:
    world, request = held()
    assert shown(world) is SessionState.WAITING
    world.decide(world.broker.open[request], decision)
    world.commit()
    assert shown(world) is after


def test_a_call_that_runs_unasked_after_a_handback_is_asked_nowhere() -> None:
    world = World("strict")
    request = world.ask(pre(shell("high", "a"), runs_unasked=True), 1)
    world.decide(request, "handback", confirmed=True)
    assert shown(world) is SessionState.WORKING


def test_its_result_says_that_the_person_was_there() -> None:
    world, request = held()
    world.decide(world.broker.open[request], "handback")
    world.send(post(shell("high", "a")))
    assert shown(world) is SessionState.WORKING


def test_the_agents_own_prompt_about_a_call_that_was_handed_back_is_asked_there() -> None:
    world, request = held()
    world.decide(world.broker.open[request], "handback")
    world.send(other("tool.batch"))
    assert shown(world) is SessionState.WORKING
    world.send(permission(shell("high", "a")), 2)
    assert shown(world) is THERE


def test_the_agents_own_prompt_about_a_call_that_was_allowed_is_answered_by_that() -> None:
    world, request = held()
    world.decide(world.broker.open[request], "allow")
    world.commit()
    world.send(permission(shell("high", "a")), 2)
    assert shown(world) is SessionState.WORKING


def test_a_notice_of_a_prompt_says_so_until_the_agent_goes_on() -> None:
    world = World("strict")
    world.send(other("prompt.submit"))
    notice = msgspec.structs.replace(other("notice"), body=Text("needs you", asks_there=True))
    world.send(notice)
    assert shown(world) is THERE
    world.send(other("model.request"))
    assert shown(world) is SessionState.WORKING


def test_a_notice_of_a_prompt_that_is_answered_here_counts_for_nothing_then() -> None:
    """Claude Code tells of its own dialog while the same call waits here."""
    world, request = held()
    world.send(msgspec.structs.replace(other("notice"), body=Text("", asks_there=True)))
    assert shown(world) is SessionState.WAITING
    world.decide(world.broker.open[request], "allow")
    world.commit()
    assert shown(world) is SessionState.WORKING


def test_a_prompt_that_takes_no_answer_is_asked_there_whatever_was_allowed_before() -> None:
    """Gemini asks again by its own rules, and its dialog cannot be answered from here."""
    world, request = held()
    world.decide(world.broker.open[request], "allow")
    world.commit()
    world.send(permission(shell("high", "a"), can=Can()), 2)
    assert shown(world) is THERE

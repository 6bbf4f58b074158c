"""Sub-agents are shown under their session, and their ends are not its own."""

from __future__ import annotations

import pytest

from tests.core.builders import other, post, pre, shell, sub
from tests.core.world import World
from watchgate.core.model.events import Kind, Lane
from watchgate.core.model.sessions import LEFT_S, SILENT_S, SessionState, guessed
from watchgate.core.state.session_views import MAX_SUBS

KEY = ("claude", "one")
S = SessionState


def test_a_sub_agent_has_a_kind_a_state_and_its_own_calls() -> None:
    world = World()
    world.send(other("prompt.submit"))
    world.send(other("agent.start", sub=sub()))
    world.send(pre(shell("low", "a"), sub=sub()), 1)
    world.send(pre(shell("low", "b"), sub=sub()), 2)
    view = world.state.sessions[KEY]
    (mine,) = view.subs
    assert (mine.name, mine.state, mine.calls, view.calls) == ("helper", S.WORKING, 2, 2)
    assert [(row.sub, row.sub_type) for row in world.state.rows.tail(9)] == [("s1", "helper")] * 2
    world.send(other("agent.stop", sub=sub()))
    assert world.state.sessions[KEY].subs[0].state is S.GONE


@pytest.mark.parametrize("kind", ["turn.end", "session.end", "agent.stop", "turn.error"])
def test_the_end_of_a_sub_agent_leaves_its_session_and_the_calls_of_others(kind: Kind) -> None:
    world = World()
    world.send(pre(shell("low", "a"), lane=Lane.OBSERVE))
    world.send(pre(shell("low", "b"), lane=Lane.OBSERVE, sub=sub()))
    world.send(other(kind, sub=sub()))
    assert world.state.sessions[KEY].state is S.WORKING
    if kind != "session.end":
        assert [row.stage for row in world.state.rows.tail(9)] == ["running", "no result"]
    world.send(post(shell("low", "a")))
    assert world.state.rows[0].stage == "done"


def test_sub_agents_do_not_pile_up_and_those_that_ended_go_first() -> None:
    world = World()
    for number in range(MAX_SUBS):
        world.send(other("agent.start", sub=sub(f"s{number}")))
    world.send(other("agent.stop", sub=sub("s5")))
    world.send(other("agent.start", sub=sub("new")))
    ids = [each.id for each in world.state.sessions[KEY].subs]
    assert len(ids) == MAX_SUBS
    assert ("s5" in ids, "s0" in ids, "new" in ids) == (False, True, True)


def test_a_hook_that_went_away_and_nothing_after_it_looks_like_an_interrupt() -> None:
    world = World()
    world.ask(pre(), 1)
    world.advance(3)
    world.hang_up(1)
    view = world.state.sessions[KEY]
    now = world.now.wall_us
    assert view.at(now).state is S.WORKING
    guess = view.at(now + LEFT_S * 1_000_000)
    assert guess.state is S.IDLE
    assert "interrupted?" in guess.why
    assert not world.all("turn.interrupt"), "no record claims what no event told"
    world.advance(1)
    world.send(post(shell(call_id="c1")))
    assert world.state.sessions[KEY].at(now + 10**8).state is S.WORKING


def test_what_is_not_heard_of_for_long_is_unknown() -> None:
    late = SILENT_S * 1_000_000 + 2
    assert guessed(late, seen_at=1, left_at=0).state is S.UNKNOWN
    assert guessed(late - 1, seen_at=1, left_at=0).state is S.WORKING


def test_an_idle_session_stays_idle_however_long() -> None:
    world = World()
    world.send(other("turn.end"))
    assert world.state.sessions[KEY].at(world.now.wall_us * 2).state is S.IDLE

"""An agent refuses by its own rules what the gate let go on: the row tells why, it did not run."""

from __future__ import annotations

from typing import Literal

import msgspec
import pytest

from tests.core.builders import other, post, pre, resolved, shell
from tests.core.world import World
from watchgate.core.history.call_history import fold_history
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.events import Event, ToolCall

WHY = "it asks nobody when headless"


def refusal() -> Event:
    event = resolved(shell("high", "a"))
    assert isinstance(event.body, ToolCall)
    return msgspec.structs.replace(event, body=msgspec.structs.replace(event.body, why=WHY))


def decided(decision: Literal["allow", "deny", "handback"]) -> World:
    world = World()
    world.decide(world.ask(pre(shell("high", "a"), runs_unasked=True), 1), decision)
    world.commit()
    return world


def row_of(world: World) -> CallRow:
    (row,) = world.state.rows.tail(10)
    return row


@pytest.mark.parametrize(("decision", "glyph"), [("allow", "+"), ("handback", "b")])
def test_the_row_says_that_the_agent_refused_it_and_why(
    decision: Literal["allow", "handback"], glyph: str
) -> None:
    world = decided(decision)
    world.send(refusal())
    world.send(other("turn.end"))
    row = row_of(world)
    assert (row.glyph, row.stage, row.why) == (glyph, "refused", WHY)
    (past,) = fold_history(world.records, 10)
    assert (past.glyph, past.outcome, past.by, past.why) == (glyph, "refused", "claude itself", WHY)
    assert world.all("effect.contradicted") == []


def test_what_a_person_denied_here_was_not_refused_by_the_agent() -> None:
    world = decided("deny")
    world.send(refusal())
    assert row_of(world).stage == "denied"
    assert world.all("effect.refused") == []


def test_a_call_that_ran_all_the_same_is_not_shown_as_refused() -> None:
    world = decided("allow")
    world.send(post(shell("high", "a")))
    world.send(refusal())
    assert row_of(world).stage == "done"

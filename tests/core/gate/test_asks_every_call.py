"""A permission event that comes for every call makes no card per call."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.builders import permission, pre, shell
from tests.core.world import World
from watchgate.core.model.verdicts import SayAllow, SayDeny, SayNothing


def send(world: World, command: str, conn: int) -> None:
    event = msgspec.structs.replace(permission(shell(command)), asks_every_call=True)
    world.send(event, conn)


@pytest.mark.parametrize("command", ["low a", "medium a", "unknown a"])
def test_what_the_policy_would_not_hold_is_handed_back(command: str) -> None:
    world = World()
    send(world, command, 1)
    assert world.reply(1) == SayNothing()
    assert world.pending == set()


def test_what_the_policy_holds_is_a_card_and_what_it_denies_is_denied() -> None:
    world = World()
    send(world, "high a", 1)
    assert len(world.pending) == 1
    send(world, "deny a", 2)
    assert isinstance(world.reply(2), SayDeny)


def test_what_the_gate_was_told_is_carried_to_it() -> None:
    world = World()
    world.allow(world.ask(pre(shell("high a")), 1))
    send(world, "high a", 2)
    assert isinstance(world.reply(2), SayAllow)
    assert len(world.all("approval.requested")) == 1


def test_a_permission_event_that_is_a_prompt_still_is_a_card() -> None:
    world = World()
    world.send(permission(shell("medium a")), 1)
    assert len(world.pending) == 1

"""So many calls may wait and no more: what waits takes memory, and nobody can look at it all."""

from __future__ import annotations

import pytest

from tests.core.builders import permission, pre, shell
from tests.core.world import World
from watchgate.core import approvals
from watchgate.core.verdicts import SayDeny, SayNothing


def crowded(monkeypatch: pytest.MonkeyPatch) -> World:
    """Two calls wait, and there is no room for a third."""
    monkeypatch.setattr(approvals, "OPEN_KEPT", 2)
    world = World()
    for number in (1, 2):
        world.ask(pre(shell(f"high {number}", f"c{number}")), number)
    return world


def test_a_gate_without_room_is_denied_and_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    world = crowded(monkeypatch)
    world.send(pre(shell("high 3", "c3")), 3)
    reply = world.reply(3)
    assert isinstance(reply, SayDeny)
    assert "2 calls of 0 MiB wait already" in reply.reason
    assert "not a refusal by a person" in reply.reason
    assert world.all("tool.pre")[-1].data["word"] == "denied-failure"


def test_a_relay_without_room_is_handed_back(monkeypatch: pytest.MonkeyPatch) -> None:
    world = crowded(monkeypatch)
    world.send(permission(shell("high 3", "c3")), 3)
    assert world.reply(3) == SayNothing()


def test_a_rule_still_denies_and_the_others_still_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    world = crowded(monkeypatch)
    world.send(pre(shell("deny 3", "c3")), 3)
    assert world.all("tool.pre")[-1].data["word"] == "denied-by-rule"
    assert len(world.broker.open) == 2


def test_room_comes_back_with_every_end(monkeypatch: pytest.MonkeyPatch) -> None:
    world = crowded(monkeypatch)
    world.send(permission(shell("high 1", "c1")), 9)
    assert len(world.broker.open) == 2, "another connection of a waiting call needs no room"
    world.advance(400)
    assert world.broker.crowded == ""
    assert world.ask(pre(shell("high 4", "c4")), 4).open


def test_large_inputs_leave_less_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approvals, "OPEN_BYTES", 2 * 1024 * 1024)
    world = World()
    for number in (1, 2):
        world.ask(pre(shell("high", f"c{number}", stdin="x" * 1024 * 1024)), number)
    assert world.broker.crowded == "2 calls of 2 MiB wait already"
    world.advance(400)
    assert world.broker.crowded == ""

"""So many calls may wait and no more: what waits takes memory, and nobody can look at it all."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.builders import permission, pre, shell
from tests.core.world import World
from watchgate.core.gate import broker
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import SayDeny, SayNothing


def crowded(monkeypatch: pytest.MonkeyPatch) -> World:
    """Two calls wait, and there is no room for a third."""
    monkeypatch.setattr(broker, "OPEN_MAX", 2)
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
    monkeypatch.setattr(broker, "OPEN_BYTES", 2 * 1024 * 1024)
    world = World()
    for number in (1, 2):
        world.ask(pre(shell("high", f"c{number}", stdin="x" * 1024 * 1024)), number)
    assert world.broker.crowded == "2 calls of 2 MiB wait already"
    world.advance(400)
    assert world.broker.crowded == ""


def asked_by(number: int, agent_pid: int | None, asker_pid: int | None = None) -> Event:
    """A gate call of a session of its own, whose hook these processes sent."""
    event = pre(shell(f"high {number}", f"c{number}"))
    return msgspec.structs.replace(
        event, session=f"s{number}", agent_pid=agent_pid, asker_pid=asker_pid
    )


@pytest.mark.parametrize(("agent_pid", "whose"), [(7, "pid 7"), (None, "cannot be named")])
def test_one_process_fills_its_share_whatever_sessions_it_names_and_no_more(
    monkeypatch: pytest.MonkeyPatch, agent_pid: int | None, whose: str
) -> None:
    monkeypatch.setattr(broker, "PROCESS_MAX", 2)
    world = World()
    for number in (1, 2, 3):
        world.send(asked_by(number, agent_pid), number)
    reply = world.reply(3)
    assert isinstance(reply, SayDeny)
    assert "2 calls from" in reply.reason
    assert whose in reply.reason
    assert "`watchgate ls`" in reply.reason
    world.ask(asked_by(4, 8), 4)
    assert len(world.broker.open) == 3


def test_what_runs_below_one_agent_counts_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "PROCESS_MAX", 2)
    world = World()
    for number in (1, 2, 3):
        world.send(asked_by(number, 100 + number, 7), number)
    assert isinstance(world.reply(3), SayDeny)


def test_large_calls_of_one_process_leave_room_for_those_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broker, "PROCESS_BYTES", 1)
    world = World()
    for number in (1, 2):
        world.send(asked_by(number, 7), number)
    assert isinstance(world.reply(2), SayDeny)
    world.ask(asked_by(3, 8), 3)


def test_the_shares_are_a_fraction_of_the_whole() -> None:
    assert (broker.OPEN_MAX, broker.PROCESS_MAX) == (500, 100)
    assert (broker.OPEN_BYTES >> 20, broker.PROCESS_BYTES >> 20) == (256, 128)

"""AP-3: nobody is there, the journal is lost, the core stops: every wait ends closed."""

from __future__ import annotations

import pytest

from tests.core.builders import permission, pre, shell
from tests.core.world import World
from watchgate.core.model.events import Lane
from watchgate.core.model.verdicts import SayAllow, SayDeny, SayNothing
from watchgate.core.policy.rules.profiles import Profile


def test_ap_3_without_a_console_a_request_waits_longer() -> None:
    world = World(consoles=0)
    assert world.ask(pre(), 1).data.timeout_s == 3600


def test_ap_3_unattended_deny_ends_a_gate_at_once_and_hands_a_relay_back() -> None:
    world = World(consoles=0, unattended="deny")
    world.send(pre(), 1)
    world.send(permission(shell("high y")), 2)
    reply = world.reply(1)
    assert isinstance(reply, SayDeny)
    assert reply.reason.startswith("No operator is attached to Watchgate")
    assert world.reply(2) == SayNothing()
    words = [record.data["word"] for record in world.all("approval.decided")]
    assert words == ["denied-no-approver", "handed-back"]


def test_ap_3_the_last_console_leaving_ends_what_waits() -> None:
    world = World(unattended="deny")
    request = world.ask(pre(), 1)
    world.do(world.engine.console_count(0, world.now))
    assert isinstance(world.reply(1), SayDeny)
    assert world.ending(request)["reason"] == "the last console left"


def test_ap_3_a_decision_already_taken_outlives_the_console_that_took_it() -> None:
    world = World(unattended="deny")
    world.decide(world.ask(pre(), 1), "allow")
    world.do(world.engine.console_count(0, world.now))
    world.commit()
    assert world.reply(1) == SayAllow()


def test_a_console_leaving_changes_nothing_while_another_watches_or_holding_is_configured() -> None:
    two = World(consoles=2, unattended="deny")
    held = two.ask(pre(), 1)
    assert two.do(two.engine.console_count(1, two.now)) == []
    assert two.pending == {held.id}
    holding = World()
    held = holding.ask(pre(), 1)
    assert holding.do(holding.engine.console_count(0, holding.now)) == []
    assert holding.pending == {held.id}


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("denied-core-stopped", "Watchgate was stopped"),
        ("denied-no-journal", "Watchgate cannot write its journal"),
    ],
)
def test_ap_3_everything_open_is_answered_once_before_the_core_goes(word: str, says: str) -> None:
    world = World()
    one, two = world.ask(pre(), 1), world.ask(permission(shell("high y")), 2)
    world.ask(pre(), 3)
    world.do(world.engine.close_all(word, "the disk is full", world.now))  # type: ignore[arg-type]
    for conn in (1, 3):
        reply = world.reply(conn)
        assert isinstance(reply, SayDeny)
        assert reply.reason.startswith(says)
        assert "the disk is full" in reply.reason
    assert world.reply(2) == SayNothing()
    assert (world.ending(one)["word"], world.ending(two)["word"]) == (word, "handed-back")
    assert world.broker.open == {}
    assert world.do(world.engine.close_all("denied-core-stopped", "", world.now)) == []


@pytest.mark.parametrize(
    ("profile", "lane", "command", "denied"),
    [
        ("guard", Lane.GATE, "high", True),
        ("guard", Lane.GATE, "low", True),
        ("guard", Lane.GATE_READ, "low", False),
        ("strict", Lane.GATE_READ, "low", True),
    ],
)
def test_a_lost_journal_denies_every_gate(
    profile: Profile, lane: Lane, command: str, denied: bool
) -> None:
    world = World(profile)
    world.engine.status.journal_lost = "the disk is full"
    world.send(pre(shell(command, "c1"), lane=lane), 1)
    assert isinstance(world.reply(1), SayDeny) is denied
    if denied:
        record = world.all("tool.pre")[0]
        assert (record.data["gate"], record.data["word"]) == ("denied", "denied-no-journal")
        assert world.state.totals.denied_by_rule == 0
        assert world.state.totals.denied_other == 1


def test_a_serial_relay_is_handed_back_at_once_when_nobody_was_seen() -> None:
    world = World()
    world.send(permission(races=False), 1)
    assert world.reply(1) == SayNothing()
    assert world.all("approval.requested") == []


def test_a_serial_relay_waits_shortly_for_an_operator_who_was_there() -> None:
    world = World()
    world.engine.status.last_key_s = world.now.mono_s - 299
    assert world.ask(permission(races=False), 1).data.timeout_s == 20

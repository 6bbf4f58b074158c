"""What the agent is told when a rule denies: that rule's reason, and its safer way."""

from __future__ import annotations

import pytest

from tests.core.builders import pre, shell
from tests.core.world import Rules, World
from watchgate.core.model.assessment import Assessment, Finding
from watchgate.core.model.verdicts import SayDeny

ASKS = Finding("a.ask", "Sends data", "high", decision="ask", suggest="keep it here")
DENIES = Finding(
    "a.deny", "Deploys by hand", "medium", decision="deny", suggest="push to main and wait"
)


def told(world: World) -> str:
    world.send(pre(shell("make deploy", "c1")), 1)
    reply = world.reply(1)
    assert isinstance(reply, SayDeny)
    return reply.reason


def judged(monkeypatch: pytest.MonkeyPatch, *findings: Finding) -> None:
    found = Assessment("deny", "high", findings)
    monkeypatch.setattr(Rules, "assess", lambda _self, _event: found)


def test_the_safer_way_of_the_rule_goes_with_its_denial(monkeypatch: pytest.MonkeyPatch) -> None:
    judged(monkeypatch, DENIES)
    assert told(World()) == (
        "A rule denied this call: Deploys by hand. Safer: push to main and wait."
        " Do not try another way than that; if it does not do, stop and report."
    )


def test_a_graver_rule_that_only_asks_lends_neither_its_reason_nor_its_safer_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged(monkeypatch, ASKS, DENIES)
    said = told(World())
    assert "Deploys by hand" in said
    assert "push to main" in said
    assert "Sends data" not in said
    assert "keep it here" not in said


def test_without_a_safer_way_none_is_told() -> None:
    world = World()
    world.send(pre(shell("deny x", "c1")), 1)
    reply = world.reply(1)
    assert isinstance(reply, SayDeny)
    assert "Safer" not in reply.reason

"""A handler's question under SynapsCLI's rules: only an operator's yes lets the call go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.core.builders import pre, shell
from tests.core.world import World
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.model.requests import ApprovalRequest
from watchgate.core.model.verdicts import Confirm, SayAllow, SayDeny

ASKS = Handler(id="guard", on=frozenset({"tool.pre"}))


def questioned(**approval: Any) -> tuple[World, ApprovalRequest]:
    """A call that the policy has no word on and a handler asks about; an operator is attached."""
    world = World(handlers=[ASKS], preset="synaps-chain", consoles=1, **approval)
    world.send(pre(shell("low", "c1")), 1)
    world.says("guard", Confirm("deploy now?"))
    request = world.broker.open[world.broker.of_conn(1) or ""]
    assert request.data.reason == "deploy now?"
    assert 1 not in world.replies, "nothing is said before the operator"
    return world, request


def denied(world: World, request: ApprovalRequest) -> None:
    world.decide(request, "deny")


def in_silence(world: World, request: ApprovalRequest) -> None:
    world.advance(request.deadline_s - world.now.mono_s)


def no_console_left(world: World, _request: ApprovalRequest) -> None:
    world.do(world.engine.console_count(0, world.now))


def no_console_left_and_silence(world: World, request: ApprovalRequest) -> None:
    world.do(world.engine.console_count(0, world.now))
    assert 1 not in world.replies, "it is held for whoever comes back"
    in_silence(world, request)


def core_stopped(world: World, _request: ApprovalRequest) -> None:
    world.do(world.engine.close_all("denied-core-stopped", "stopped", world.now))


def test_sy_15_an_operators_yes_lets_the_call_go_on() -> None:
    world, request = questioned()
    world.allow(request)
    assert world.reply(1) == SayAllow()
    assert world.ending(request)["word"] == "allowed-by-operator"


@pytest.mark.parametrize(
    ("end", "unattended", "word"),
    [
        (denied, "hold", "denied-by-operator"),
        (in_silence, "hold", "denied-by-timeout"),
        (no_console_left, "deny", "denied-no-approver"),
        (no_console_left_and_silence, "hold", "denied-by-timeout"),
        (core_stopped, "hold", "denied-core-stopped"),
    ],
)
def test_sy_15_every_other_end_of_the_question_blocks_the_call(
    end: Callable[[World, ApprovalRequest], None], unattended: str, word: str
) -> None:
    world, request = questioned(unattended=unattended)
    end(world, request)
    assert isinstance(world.reply(1), SayDeny)
    assert world.ending(request)["word"] == word


def test_sy_15_a_yes_that_cannot_be_written_blocks_the_call() -> None:
    world, request = questioned()
    world.decide(request, "allow")
    world.commit(ok=False)
    assert isinstance(world.reply(1), SayDeny)

"""Handlers of prompts, results and ends of turns: what they may prevent, and what is traced."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.core.builders import ONLY_DENIES, other, post, pre, shell
from tests.core.gate.test_handler_dispatcher import _get, gate, low, trace
from tests.core.world import World
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.verdicts import (
    Block,
    Confirm,
    Defer,
    Failed,
    Modify,
    SayAllow,
    SayDeny,
    SayNothing,
)


def prompt(**fields: Any) -> Event:
    return other("prompt.submit", lane=Lane.GATE, can=ONLY_DENIES, **fields)


def test_sa_b4_a_lifecycle_hook_that_may_not_fail_keeps_the_message_from_being_sent() -> None:
    check = gate("check", on="prompt.submit", continue_on_failure=False)
    world = World(handlers=[check], preset="sandbox-lifecycle")
    assert world.send(prompt(), 1) == ["prompt.submit"]
    world.says("check", Failed("exit", "exit 3"))
    assert isinstance(world.replies[1][0], SayDeny)


def test_sa_5_a_lifecycle_hook_that_fails_lets_the_message_go_on() -> None:
    world = World(handlers=[gate("check", on="prompt.submit")], preset="sandbox-lifecycle")
    world.send(prompt(), 1)
    world.says("check", Failed("exit", "exit 3"))
    assert world.replies[1] == [SayNothing()]


@pytest.mark.parametrize("said", [Block("no"), Confirm("sure?"), Modify({"prompt": "others"})])
def test_core_7_a_message_is_held_back_for_what_nobody_can_be_asked_but_not_in_watch(
    said: Block | Confirm | Modify,
) -> None:
    check = gate("check", on="prompt.submit")
    worlds = World(handlers=[check]), World("watch", handlers=[check])
    for world, told in zip(worlds, (SayDeny, SayNothing), strict=True):
        world.send(prompt(), 1)
        world.says("check", said)
        assert isinstance(world.replies[1][0], told)


def test_core_7_an_outcome_that_only_changes_the_view_denies_nothing() -> None:
    world = World(handlers=[gate()], preset="sdk-first-match")
    started = msgspec.structs.replace(
        pre(shell("low", "c1")), native="item.started/command_execution"
    )
    world.send(started, 1)
    world.says("guard", Block("hide it"))
    assert world.replies[1] == [SayNothing()]


def test_observers_of_a_result_are_run_and_traced() -> None:
    world = World(handlers=[gate("log", on="tool.post", role="observer")])
    world.send(pre(shell("low", "c9")), 1)
    assert world.send(post(shell("low", "c9"))) == ["tool.post"]
    assert world.says("log", Defer()) == ["hook.trace"]
    assert trace(world) == [("log", "defer")]


def test_nothing_is_traced_where_nobody_is_registered() -> None:
    world = World(handlers=[gate("log", on="tool.post", role="observer")])
    assert world.send(other("notice")) == ["notice"]


def test_the_end_of_a_turn_leaves_the_call_that_is_being_heard() -> None:
    world = World(handlers=[gate()])
    low(world)
    world.send(other("turn.end"))
    world.says("guard", Confirm("sure?"))
    request = world.broker.open[world.broker.of_conn(1) or ""]
    world.allow(request)
    assert world.replies[1] == [SayAllow()]
    assert "effect.confirmed" in world.send(post(shell("low", "c1")))


def test_core_7_a_handler_without_a_say_is_traced_as_one_that_was_only_watched() -> None:
    world = World("watch", handlers=[gate()])
    low(world)
    world.says("guard", Block("no"))
    row = world.records[-1].data["rows"][0]
    assert (_get(row, "verdict"), _get(row, "ignored")) == ("block", "True")
    assert _get(row, "detail").startswith("only watched here")

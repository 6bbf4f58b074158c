"""CORE-11: a console only supplies answers; with one or without, the same is decided and traced."""

from __future__ import annotations

from typing import Literal

import msgspec
import pytest

from tests.core.builders import post, pre, shell
from tests.core.world import World
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import PresetName
from watchgate.core.model.verdicts import Block, Confirm, Defer, Verdict

GUARD = Handler(id="guard", on=frozenset({"tool.pre"}))
STORY: list[tuple[str, Verdict, Literal["allow", "deny", "handback"]]] = [
    ("low a", Defer(), "deny"),
    ("deny b", Defer(), "deny"),
    ("low c", Block("not today"), "deny"),
    ("low d", Confirm("sure?"), "allow"),
    ("high e", Defer(), "deny"),
    ("high f", Defer(), "handback"),
]
"""Each call, what the handler says of it, and what the operator does if it is held."""

TELLS = ("tool.pre", "tool.post", "hook.trace", "approval.decided", "effect.confirmed")


def played(preset: PresetName, consoles: int) -> list[bytes]:
    """What is recorded of the story, and what each agent is told."""
    world = World(consoles=consoles, handlers=[GUARD], preset=preset)
    for conn, (command, said, answer) in enumerate(STORY):
        tool = shell(command, f"c{conn}")
        world.send(pre(tool), conn)
        world.says("guard", said)
        held = world.broker.of_conn(conn)
        if held is not None:
            world.decide(world.broker.open[held], answer)
            world.commit()
        world.send(post(tool))
    told = [(each.kind, each.call, each.data) for each in world.records if each.kind in TELLS]
    return [*map(msgspec.json.encode, told), repr(world.replies).encode()]


@pytest.mark.parametrize("preset", ["console", "codex-fork-v1", "codex-permission"])
def test_core_11_a_core_that_a_console_watches_decides_and_traces_as_one_alone(
    preset: PresetName,
) -> None:
    # Only synaps-chain differs, on purpose: it denies a question where nobody watches (SY-16).
    alone, watched = played(preset, 0), played(preset, 1)
    assert len(watched) > len(STORY)
    assert alone == watched


@pytest.mark.parametrize(
    ("consoles", "deadline_s", "unattended"), [(0, None, True), (1, None, False), (0, 120.0, False)]
)
def test_a_request_tells_that_its_wait_is_longer_as_nobody_was_there(
    consoles: int, deadline_s: float | None, *, unattended: bool
) -> None:
    world = World(consoles=consoles)
    world.send(pre(shell("high e", "c1"), deadline_s=deadline_s), 1)

    (request,) = world.broker.open.values()
    (asked,) = [each for each in world.records if each.kind == "approval.requested"]

    assert request.data.unattended is unattended
    assert (request.data.timeout_s > 300) is unattended
    assert asked.data.get("unattended", False) is unattended

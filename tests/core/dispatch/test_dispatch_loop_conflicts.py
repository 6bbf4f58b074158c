"""Where the hook systems contradict each other: one table, one answer for each preset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import pytest

from tests.core.builders import other, permission, pre
from tests.core.dispatching import Says, handler, run
from watchgate.core.dispatch.dispatch_loop import Invoke
from watchgate.core.dispatch.presets import PRESETS, PresetName
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.verdicts import Allow, Block, Confirm, Failed, Modify, Verdict

CALL = msgspec.structs.replace(pre(), native="item.started/command_execution")
PROMPT = other("prompt.submit", Lane.GATE)
ONE, TWO = Modify({"command": "1"}), Modify({"command": "2"})


class Conflict(NamedTuple):
    """What two handlers say, and what each preset makes of it: decision, author, input, asked."""

    what: str
    says: tuple[Verdict | None, Verdict | None]
    becomes: dict[PresetName, tuple[str, str | None, str | None, str]]
    event: Event = CALL


CONFLICTS = [
    Conflict(
        "a second handler after an allow",
        (Allow(), Block("no")),
        {
            "console": ("deny", "b", None, "ab"),
            "codex-fork-v1": ("deny", "b", None, "ab"),
            "codex-fork-v2": ("deny", "b", None, "ab"),
            "codex-permission": ("deny", "b", None, "ab"),
            "synaps-chain": ("deny", "b", None, "ab"),
            "sdk-first-match": ("allow", "a", None, "a"),
            "codewhale-sinks": ("allow", "a", None, "ab"),
        },
    ),
    Conflict(
        "a second handler after a block",
        (Block("no"), Allow()),
        {
            "console": ("deny", "a", None, "a"),
            "codex-fork-v1": ("deny", "a", None, "a"),
            "codex-fork-v2": ("deny", "a", None, "ab"),
            "codex-permission": ("deny", "a", None, "ab"),
            "synaps-chain": ("deny", "a", None, "a"),
            "sdk-first-match": ("deny", "a", None, "a"),
            "codewhale-sinks": ("allow", "b", None, "ab"),
        },
    ),
    Conflict(
        "a rewrite, then a block",
        (ONE, Block("no")),
        {
            "console": ("deny", "b", None, "ab"),
            "codex-fork-v1": ("deny", "b", None, "ab"),
            "codex-fork-v2": ("deny", "b", None, "ab"),
            "codex-permission": ("deny", "b", None, "ab"),
            "synaps-chain": ("allow", "a", "1", "a"),
            "sdk-first-match": ("none", "a", "1", "a"),
        },
    ),
    Conflict(
        "two rewrites",
        (ONE, TWO),
        {
            "console": ("none", "b", "2", "ab"),
            "codex-fork-v1": ("allow", "b", "2", "ab"),
            "codex-fork-v2": ("allow", "b", "2", "ab"),
            "codex-permission": ("none", "b", "2", "ab"),
            "synaps-chain": ("allow", "a", "1", "a"),
            "sdk-first-match": ("none", "a", "1", "a"),
        },
    ),
    Conflict(
        "a question, then a block",
        (Confirm("sure?"), Block("no")),
        {
            "console": ("deny", "b", None, "ab"),
            "synaps-chain": ("confirm", "a", None, "a"),
        },
    ),
    Conflict(
        "a timeout",
        (None, Allow()),
        {
            "console": ("deny", "a", None, "a"),
            "codex-fork-v1": ("deny", "a", None, "a"),
            "codex-fork-v2": ("deny", "a", None, "ab"),
            "codex-permission": ("allow", "b", None, "ab"),
            "synaps-chain": ("allow", "b", None, "ab"),
            "sdk-first-match": ("allow", "b", None, "ab"),
        },
    ),
    Conflict(
        "a failing exit code",
        (Failed("exit"), Allow()),
        {
            "console": ("deny", "a", None, "a"),
            "codex-fork-v1": ("deny", "a", None, "a"),
            "codex-fork-v2": ("allow", "b", None, "ab"),
            "codex-permission": ("allow", "b", None, "ab"),
        },
    ),
    Conflict(
        "a handler that cannot start",
        (Failed("spawn"), Allow()),
        {
            "console": ("deny", "a", None, "a"),
            "codex-fork-v1": ("allow", "b", None, "ab"),
            "codex-fork-v2": ("allow", "b", None, "ab"),
            "synaps-chain": ("allow", "b", None, "ab"),
        },
    ),
    Conflict(
        "an unreadable answer",
        (Failed("parse"), Allow()),
        {
            "console": ("deny", "a", None, "a"),
            "codex-fork-v1": ("allow", "b", None, "ab"),
            "codex-permission": ("allow", "b", None, "ab"),
            "synaps-chain": ("allow", "b", None, "ab"),
        },
    ),
    Conflict(
        "a rewrite without an input",
        (Modify(None), Allow()),
        {
            "console": ("deny", "a", None, "a"),
            "codex-fork-v1": ("deny", "a", None, "a"),
            "codex-fork-v2": ("deny", "a", None, "ab"),
            "codex-permission": ("deny", "a", None, "ab"),
            "synaps-chain": ("deny", "a", None, "a"),
            "sdk-first-match": ("deny", "a", None, "a"),
        },
    ),
    Conflict(
        "a verdict that the event does not take",
        (Block("no"), Allow()),
        {"console": ("deny", "a", None, "a"), "synaps-chain": ("allow", "b", None, "ab")},
        PROMPT,
    ),
    Conflict(
        "a rewrite of a permission",
        (ONE, Allow()),
        {
            "console": ("allow", "b", "1", "ab"),
            "codex-permission": ("deny", "a", None, "ab"),
        },
        permission(),
    ),
    Conflict(
        "a failure in a list that may go on",
        (Failed("exit"), Allow()),
        {"sandbox-lifecycle": ("allow", "b", None, "ab"), "console": ("deny", "a", None, "a")},
        PROMPT,
    ),
]
CASES: list[Any] = [
    pytest.param(conflict, preset, id=f"{conflict.what}-{preset}")
    for conflict in CONFLICTS
    for preset in conflict.becomes
]


@pytest.mark.parametrize(("conflict", "preset"), CASES)
def test_core_10_a_conflict_is_resolved_by_the_presets_fields(
    conflict: Conflict, preset: PresetName
) -> None:
    decision, author, command, asked = conflict.becomes[preset]
    hooks = [handler(key, conflict.event.kind) for key in "ab"]
    said: dict[str, Says] = dict(zip("ab", conflict.says, strict=True))
    played = run(hooks, said, policy=PRESETS[preset], event=conflict.event)
    outcome = played.outcome
    assert (outcome.decision, outcome.decided_by) == (decision, author)
    assert outcome.input == (None if command is None else {"command": command})
    assert "".join(dict.fromkeys(played.ran)) == asked


@pytest.mark.parametrize("preset", PRESETS)
def test_nobody_matched(preset: PresetName) -> None:
    expected = {"codex-permission": "none", "sdk-first-match": "none", "console": "none"}
    outcome = run([handler("a", "notice")], {}, policy=PRESETS[preset], event=CALL).outcome
    assert outcome.decision == expected.get(preset, "allow")


@pytest.mark.parametrize("preset", PRESETS)
def test_an_observer_in_front_of_a_gate_is_no_obstacle(preset: PresetName) -> None:
    hooks = [handler("watching", role="observer"), handler("gate", on_failure="closed")]
    said: dict[str, Says] = {"watching": Allow(), "gate": Failed("crash")}
    outcome = run(hooks, said, policy=PRESETS[preset], event=CALL).outcome
    assert (outcome.decision, outcome.decided_by) == ("deny", "gate")


@pytest.mark.parametrize("preset", PRESETS)
def test_sy_b9_deadlines_of_one_chain_come_from_one_start(preset: PresetName) -> None:
    policy = PRESETS[preset]
    starts: list[float] = []

    def noting(waiting: Sequence[Invoke]) -> int:
        starts.extend(call.deadline_s for call in waiting)
        return 0

    hooks = [handler(f"h{n}", timeout_s=3600) for n in range(3)]
    said: dict[str, Says] = {each.id: Allow() for each in hooks}
    run(hooks, said, policy=policy, event=CALL, took_s=1, ends_next=noting)
    assert set(starts) == {CALL.at.mono_s + policy.total_timeout_s}

"""Upstream codex on the one loop, and what was wrong there and in its fork."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import get_args

import msgspec
import pytest

from tests.core.builders import START, permission, post, pre, shell
from tests.core.dispatching import Says, first, handler, last, run
from watchgate.agents.registry import adapter
from watchgate.core.dispatch.dispatch_loop import Dispatch, Invoke
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handler_config import read_matcher
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.dispatch.presets import (
    CODEX_FORK_V2,
    CODEX_PERMISSION,
    CONSOLE,
    PRESETS,
    DispatchPolicy,
)
from watchgate.core.model.events import Tool, ToolClass
from watchgate.core.model.verdicts import (
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    FailureCause,
    Modify,
    SayDeny,
    Verdict,
)

TOOLS: list[tuple[str, ToolClass]] = [
    ("Bash", "shell"),
    ("mcp__fs__read", "mcp"),
    ("apply_patch", "edit"),
    ("WebFetch", "fetch"),
]


UPSTREAM_EVENTS = {
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "SubagentStart",
    "SubagentStop",
}


def named(policy: DispatchPolicy) -> str:
    return policy.name


AT_ONCE = [CODEX_FORK_V2, CODEX_PERMISSION]


def test_cx_60_every_event_of_upstream_has_a_kind_that_hooks_can_be_registered_for() -> None:
    """Which layers are read, and whether a hook is trusted, is Codex's own question.

    It asks the user before it runs any hook, ours too; what a configuration of ours names was
    written by its owner, so nothing here could be trusted less.
    """
    known = PROTOCOLS["codex"].events
    assert set(known.values()) == UPSTREAM_EVENTS
    bus = Bus(CODEX_PERMISSION, [handler("a", *known)])
    assert bus.handler_count == len(known)


def test_cx_60_the_hooks_of_all_layers_run_and_one_denial_is_enough() -> None:
    said: dict[str, Says] = {"system": Allow(), "user": Block("no"), "project": Allow()}
    played = run([handler(key) for key in said], said, policy=CODEX_PERMISSION)
    assert played.ran == ("system", "user", "project")
    assert (played.outcome.decision, played.outcome.decided_by) == ("deny", "user")


def test_cx_61_all_that_match_start_together_and_are_reported_in_order() -> None:
    hooks = [handler(f"h{n}") for n in range(12)]
    dispatch = Bus(CODEX_PERMISSION, hooks).start(pre(), START)
    assert isinstance(dispatch, Dispatch)
    assert [call.handler.id for call in dispatch.begin(START)] == [each.id for each in hooks]
    played = run(
        hooks, {each.id: Defer() for each in hooks}, policy=CODEX_PERMISSION, ends_next=last
    )
    assert [row.handler for row in played.trace] == [each.id for each in hooks]


@pytest.mark.parametrize("order", [first, last])
def test_cx_62_any_denial_blocks_with_the_first_ones_words(
    order: Callable[[Sequence[Invoke]], int],
) -> None:
    says: dict[str, Says] = {
        "a": Modify({"command": "x"}),
        "b": Block("first"),
        "c": Allow(),
        "d": Block("second"),
    }
    hooks = [handler(key) for key in says]
    outcome = run(hooks, says, policy=CODEX_PERMISSION, ends_next=order).outcome
    assert (outcome.decision, outcome.decided_by, outcome.reason) == ("deny", "b", "first")
    assert outcome.input is None


@pytest.mark.parametrize("order", permutations(range(3)), ids=str)
@pytest.mark.parametrize("policy", AT_ONCE, ids=named)
def test_cx_63_cx_b9_of_several_rewrites_the_last_in_the_configuration_counts(
    policy: DispatchPolicy, order: tuple[int, ...]
) -> None:
    turns = list(order)

    def chosen(waiting: Sequence[Invoke]) -> int:
        return [call.handler.id for call in waiting].index(f"h{turns.pop(0)}")

    says: dict[str, Says] = {f"h{n}": Modify({"command": str(n)}) for n in range(3)}
    outcome = run([handler(key) for key in says], says, policy=policy, ends_next=chosen).outcome
    assert outcome.input == {"command": "2"}


@pytest.mark.parametrize("cause", ["exit", "timeout", "crash", "parse", "spawn", "protocol"])
def test_cx_66_a_failure_is_no_verdict_upstream_unless_the_hook_says_otherwise(
    cause: FailureCause,
) -> None:
    said = {"a": Failed(cause, "oops")}
    open_one = run([handler("a")], said, policy=CODEX_PERMISSION)
    assert (open_one.outcome.decision, open_one.row("a").ignored) == ("none", True)
    strict = run([handler("a", on_failure="closed")], said, policy=CODEX_PERMISSION)
    assert strict.outcome.decision == "deny"


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ([Defer(), Defer()], "none"),
        ([Defer(), Allow()], "allow"),
        ([Allow(), Block("no")], "deny"),
        ([Block("no"), Allow()], "deny"),
        ([Modify({"command": "x"}), Allow()], "deny"),
        ([Failed("malformed", "interrupt is reserved"), Allow()], "deny"),
    ],
)
def test_cx_68_deny_before_allow_before_the_normal_question_and_reserved_fields_fail_closed(
    said: list[Verdict], decision: str
) -> None:
    hooks = [handler(f"h{n}", "tool.permission") for n in range(len(said))]
    says: dict[str, Says] = {f"h{n}": verdict for n, verdict in enumerate(said)}
    outcome = run(hooks, says, policy=CODEX_PERMISSION, event=permission()).outcome
    assert outcome.decision == decision
    assert outcome.input is None


@pytest.mark.parametrize("place", range(3))
def test_cx_b8_under_our_preset_every_gate_sees_the_final_input(place: int) -> None:
    seen: dict[str, list[object]] = {}

    def judge(key: str) -> Callable[[dict[str, object]], Verdict]:
        def verdict(found: dict[str, object]) -> Verdict:
            seen.setdefault(key, []).append(found["command"])
            return Block("not that") if found["command"] == "rm" else Allow()

        return verdict

    says: dict[str, Says] = {f"h{n}": judge(f"h{n}") for n in range(3)}
    says[f"h{place}"] = Modify({"command": "rm"})
    played = run([handler(f"h{n}") for n in range(3)], says, policy=CONSOLE)
    assert played.outcome.decision == "deny"
    assert played.outcome.input is None
    blocker = played.outcome.decided_by
    assert blocker is not None
    assert seen[blocker][-1] == "rm"


def test_cx_b8_two_rewriters_build_on_each_other_under_our_preset() -> None:
    def adding(word: str) -> Callable[[dict[str, object]], Verdict]:
        return lambda found: Modify({"command": f"{found['command']} {word}"})

    says: dict[str, Says] = {"a": adding("--dry-run"), "b": adding("--quiet")}
    event = pre(shell("push"))
    outcome = run([handler("a"), handler("b")], says, event=event).outcome
    assert outcome.input == {"command": "push --dry-run --quiet"}


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_cx_b4_every_tool_is_denied_in_the_same_shape(agent: str) -> None:
    replies = {
        adapter(agent).answer(pre(Tool(name, name, cls, {}, "hash"), agent=agent), SayDeny("no"))
        for name, cls in TOOLS
    }
    assert len(replies) == 1


@pytest.mark.parametrize("cause", get_args(FailureCause))
@pytest.mark.parametrize("policy", PRESETS.values(), ids=named)
def test_cx_b5_one_failure_rule_of_a_hook_covers_every_cause(
    policy: DispatchPolicy, cause: FailureCause
) -> None:
    event = msgspec.structs.replace(pre(), native="item.started/command_execution")
    for rule, decision in (("closed", "deny"), ("open", policy.no_match)):
        hook = handler("a", on_failure=rule)
        outcome = run([hook], {"a": Failed(cause)}, policy=policy, event=event).outcome
        assert outcome.decision == decision


def test_cx_b13_a_failed_tool_reaches_its_hooks_too() -> None:
    hook = handler("a", "tool.post", "tool.error", role="observer")
    for ok in (True, False):
        assert run([hook], {"a": Allow()}, policy=CODEX_FORK_V2, event=post(ok=ok)).ran == ("a",)


def test_cx_b15_a_skipped_hook_is_a_row_with_its_reason() -> None:
    hooks = [
        handler("off", disabled=True),
        handler("other", match=read_matcher("codex", "Read|Edit")),
        handler("block"),
        handler("behind"),
    ]
    played = run(hooks, {"block": Block("no")}, policy=CONSOLE)
    assert played.seen == [
        ("off", "disabled"),
        ("other", "matcher"),
        ("block", "block"),
        ("behind", "after-stop"),
    ]


def test_a_confirm_is_stronger_than_an_allow_whatever_runs_first() -> None:
    for policy in AT_ONCE:
        says: dict[str, Says] = {"a": Allow(), "b": Confirm("sure?")}
        outcome = run([handler("a"), handler("b")], says, policy=policy).outcome
        assert (outcome.decision, outcome.reason) == ("confirm", "sure?")

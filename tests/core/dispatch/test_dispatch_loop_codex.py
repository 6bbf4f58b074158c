"""The codex fork's two hook systems on the one loop."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.builders import START, other, post, pre, shell
from tests.core.dispatching import Says, first, handler, last, play, run
from watchgate.core.config.config import load
from watchgate.core.config.configured_handlers import handler_of
from watchgate.core.dispatch.dispatch_loop import Dispatch
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handler_config import read_matcher
from watchgate.core.dispatch.presets import (
    CODEX_FORK_V1,
    CODEX_FORK_V2,
    CODEX_PERMISSION,
    PRESETS,
    DispatchPolicy,
    preset_of,
)
from watchgate.core.model.events import Lane, Tool
from watchgate.core.model.verdicts import Allow, Block, Modify, Report, Verdict


def named(policy: DispatchPolicy) -> str:
    return policy.name


FORK = '[dispatch]\npreset = "codex-fork-v1"\n'
AT_ONCE = [CODEX_FORK_V2, CODEX_PERMISSION]


def test_cx_20_two_rewrites_see_the_original_and_the_last_one_counts() -> None:
    seen: list[object] = []

    def rewriting(content: str) -> Callable[[dict[str, object]], Verdict]:
        def verdict(found: dict[str, object]) -> Verdict:
            seen.append(found["command"])
            return Modify({"command": content})

        return verdict

    says: dict[str, Says] = {"one": rewriting("a"), "two": rewriting("b")}
    event = pre(shell("original"))
    played = run([handler("one"), handler("two")], says, policy=CODEX_FORK_V1, event=event)
    assert seen == ["original", "original"]
    assert (played.outcome.decision, played.outcome.input) == ("allow", {"command": "b"})


def test_cx_21_a_rewrite_survives_those_that_proceed() -> None:
    says: dict[str, Says] = {"a": Modify({"command": "x"}), "b": Allow(), "c": Allow()}
    played = run([handler(key) for key in says], says, policy=CODEX_FORK_V1)
    assert played.ran == ("a", "b", "c")
    assert (played.outcome.decision, played.outcome.input) == ("allow", {"command": "x"})


@pytest.mark.parametrize("place", [0, 1, 2])
def test_cx_22_a_block_ends_the_chain_and_drops_earlier_rewrites(place: int) -> None:
    says: dict[str, Says] = {f"h{n}": Modify({"command": "x"}) for n in range(4)}
    says[f"h{place}"] = Block("no")
    played = run([handler(key) for key in says], says, policy=CODEX_FORK_V1)
    assert played.ran == tuple(f"h{n}" for n in range(place + 1))
    assert (played.outcome.decision, played.outcome.reason) == ("deny", "no")
    assert played.outcome.input is None
    assert {row.why for row in played.trace[place + 1 :]} == {"after-stop"}


@pytest.mark.parametrize(
    ("matcher", "tool", "runs"),
    [
        (None, "shell", True),
        ("*", "anything", True),
        ("shell*", "shell_command", True),
        ("shell*", "my_shell", False),
        ("*shell", "my_shell", False),
        ("read_*_file", "read_a_file", False),
        ("read_*_file", "read_*_file", True),
    ],
)
def test_cx_23_cx_24_cx_25_a_hook_runs_for_the_tools_of_its_matcher(
    matcher: str | None, tool: str, runs: bool
) -> None:
    match = read_matcher("codex-fork-v1", matcher)
    call = pre(Tool(tool, tool, "other", {}, "hash"))
    played = run([handler("a", match=match)], {"a": Block("no")}, policy=CODEX_FORK_V1, event=call)
    assert (played.ran == ("a",)) is runs
    assert played.outcome.decision == ("deny" if runs else "allow")


def test_cx_26_a_matcher_is_ignored_on_an_event_without_a_tool() -> None:
    hook = handler("a", "notice", "tool.pre", match=read_matcher("codex-fork-v1", "shell*"))
    assert run([hook], {"a": Allow()}, policy=CODEX_FORK_V1, event=other("notice")).ran == ("a",)
    assert run([hook], {"a": Allow()}, policy=CODEX_FORK_V1).row("a").why == "matcher"


@pytest.mark.parametrize("policy", [CODEX_FORK_V1, CODEX_FORK_V2], ids=named)
def test_cx_29_after_a_tool_nothing_that_a_hook_says_prevents_anything(
    policy: DispatchPolicy,
) -> None:
    says = {"a": Block("no")}
    assert (
        run([handler("a", "tool.post")], says, policy=policy, event=post()).outcome.effect == "view"
    )
    assert run([handler("a", "tool.pre")], says, policy=policy).outcome.effect == "gate"


def test_cx_31_a_configuration_without_hooks_is_no_error_and_has_none() -> None:
    config = load(FORK, "config.toml")
    assert (config.dispatch.preset, config.handler) == ("codex-fork-v1", ())
    preset = preset_of(config.dispatch.preset)
    assert Bus(preset, [handler_of(each, preset) for each in config.handler]).is_empty


def test_cx_31_a_hook_that_names_no_time_has_thirty_seconds() -> None:
    hook = '[[handler]]\nid = "a"\non = ["tool.pre"]\ncommand = ["./a"]\n'
    for more, limit_s in (("", 30), ("timeout_s = 7\n", 7)):
        config = load(FORK + hook + more, "config.toml")
        preset = preset_of(config.dispatch.preset)
        dispatch = Bus(preset, [handler_of(each, preset) for each in config.handler]).start(
            pre(), START
        )
        assert isinstance(dispatch, Dispatch)
        (call,) = dispatch.begin(START)
        assert call.deadline_s == START.mono_s + limit_s


def test_cx_44_all_run_at_once_and_are_folded_in_the_configurations_order() -> None:
    says: dict[str, Says] = {
        "rewrite-1": Report(verdict=Modify({"command": "1"})),
        "block-1": Report(verdict=Block("first"), text="one"),
        "rewrite-2": Report(verdict=Modify({"command": "2"})),
        "block-2": Report(verdict=Block("second"), text="two"),
    }
    hooks = [handler(key) for key in says]
    outcomes = [run(hooks, says, policy=CODEX_FORK_V2, ends_next=order) for order in (first, last)]
    for played in outcomes:
        assert sorted(played.ran) == sorted(says)
        assert (played.outcome.decision, played.outcome.reason) == ("deny", "first")
        assert played.outcome.injections == ("one", "two")
        assert played.outcome.input is None
    calm = {key: said for key, said in says.items() if "block" not in key}
    for order in (first, last):
        outcome = run(hooks[::2], calm, policy=CODEX_FORK_V2, ends_next=order).outcome
        assert outcome.input == {"command": "2"}


def test_cx_44_ten_run_at_once_and_no_more() -> None:
    dispatch = Bus(CODEX_FORK_V2, [handler(f"h{n}") for n in range(13)]).start(pre(), START)
    assert isinstance(dispatch, Dispatch)
    assert len(dispatch.begin(START)) == 10
    following = dispatch.feed("h4", Report(verdict=Block("no")), START)
    assert [call.handler.id for call in following] == ["h10"]
    assert len(dispatch.running) == 10


def test_cx_45_a_background_hook_has_no_say() -> None:
    hooks = [handler("bg", role="observer"), handler("gate")]
    said: dict[str, Says] = {
        "bg": Report(verdict=Block("no"), text="text"),
        "gate": Allow(),
    }
    outcome = run(hooks, said, policy=CODEX_FORK_V2).outcome
    assert (outcome.decision, outcome.injections) == ("allow", ())


def test_cx_46_once_means_once_a_session_and_only_a_match_counts() -> None:
    hook = handler("a", once=True, match=read_matcher("codex-fork-v2", "^Bash$"))
    bus = Bus(CODEX_FORK_V2, [hook])
    read_call = pre(Tool("Read", "Read", "read", {}, "hash"))
    assert play(bus, {"a": Allow()}, read_call).row("a").why == "matcher"
    assert play(bus, {"a": Allow()}).ran == ("a",)
    assert play(bus, {"a": Allow()}).row("a").why == "once"
    assert play(bus, {"a": Allow()}, pre(session="two")).ran == ("a",)
    bus.forget(pre())
    assert play(bus, {"a": Allow()}).ran == ("a",)


def test_cx_47_a_hook_with_a_broken_pattern_never_runs() -> None:
    hook = handler("a", match=read_matcher("codex-fork-v2", "("))
    played = run([hook, handler("b")], {"b": Allow()}, policy=CODEX_FORK_V2)
    assert played.seen == [("a", "matcher"), ("b", "allow")]


def test_cx_49_cx_70_ten_minutes_where_a_hook_names_no_time() -> None:
    for policy in AT_ONCE:
        dispatch = Bus(policy, [handler("a")]).start(pre(), START)
        assert isinstance(dispatch, Dispatch)
        assert dispatch.begin(START)[0].deadline_s == START.mono_s + 600


@pytest.mark.parametrize("policy", PRESETS.values(), ids=named)
def test_cx_50_disabled_hooks_are_rows_and_nothing_else(policy: DispatchPolicy) -> None:
    hooks = [handler("a", disabled=True), handler("b", disabled=True, role="observer")]
    played = run(hooks, {}, policy=policy)
    assert played.ran == ()
    assert {row.why for row in played.trace} == {"filter" if policy.events else "disabled"}
    assert played.outcome.decision == policy.no_match


def test_a_prompt_hook_of_the_fork_is_asked_like_any_other() -> None:
    event = other("prompt.submit", Lane.GATE)
    hook = handler("a", "prompt.submit")
    assert run([hook], {"a": Block("no")}, policy=CODEX_FORK_V1, event=event).ran == ("a",)

"""The first hook protocol of the codex fork."""

from __future__ import annotations

from typing import Final

import msgspec
import pytest

from tests.core.builders import other, permission, post, pre, shell
from tests.core.dispatch.hooks.runs import calling, ended, told, verdict
from watchgate.core.dispatch.hooks.codex_fork import V1_EVENTS
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.dispatch.hooks.rewrites import ARGV, MISSING, UNREADABLE
from watchgate.core.dispatch.presets import CODEX_FORK_V1
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Allow, Block, Defer, Failed, Modify

NAME: Final = "codex-fork-v1"
ARGV_CALL = calling(
    "local_shell", {"command": ["git", "push origin"], "workdir": "/srv", "timeout_ms": 10}, "shell"
)


def test_cx_1_six_events_and_no_other_have_a_name() -> None:
    assert set(V1_EVENTS.values()) == {
        "after_agent",
        "pre_tool_use",
        "post_tool_use",
        "stop",
        "user_prompt_submit",
        "notification",
    }


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        (pre(), {"event_type": "pre_tool_use", "tool_name": "Bash"}),
        (permission(), {"event_type": "pre_tool_use", "tool_name": "Bash"}),
        (post(), {"event_type": "post_tool_use", "tool_name": "Bash", "tool_output": ""}),
        (post(ok=False), {"event_type": "post_tool_use"}),
        (
            other("turn.end", turn="t1"),
            {
                "event_type": "after_agent",
                "thread_id": "one",
                "turn_id": "t1",
                "input_messages": [],
                "last_assistant_message": "words",
            },
        ),
        (other("turn.interrupt"), {"event_type": "stop", "reason": "words"}),
        (other("prompt.submit"), {"event_type": "user_prompt_submit", "user_message": "words"}),
        (other("notice"), {"event_type": "notification", "message": "words", "level": "info"}),
    ],
)
def test_cx_1_each_event_carries_its_own_fields(event: Event, fields: dict[str, object]) -> None:
    assert told(NAME, event)["hook_event"].items() >= fields.items()


def test_cx_2_the_payload_is_one_object_and_nothing_after_it() -> None:
    stdin = PROTOCOLS["codex-fork-v1"].exchange(pre(shell("é")), "guard").stdin
    assert (
        stdin
        == (
            '{"session_id":"one","cwd":"/home/u/app","triggered_at":"2025-06-15T15:06:40Z",'
            '"hook_event":{"event_type":"pre_tool_use","tool_name":"Bash",'
            '"tool_input":"{\\"command\\":\\"é\\"}"}}'
        ).encode()
    )


def test_cx_3_a_tools_input_is_a_text() -> None:
    event = calling("mcp__fs__read", {"path": "a.py", "deep": {"list": [1, None]}}, "mcp")
    assert told(NAME, event)["hook_event"]["tool_input"] == (
        '{"path":"a.py","deep":{"list":[1,null]}}'
    )


def test_cx_4_the_arguments_of_a_local_shell_call_stay_apart() -> None:
    given = msgspec.json.decode(told(NAME, ARGV_CALL)["hook_event"]["tool_input"])
    assert given == {"command": ["git", "push origin"], "workdir": "/srv", "timeout_ms": 10}


def test_cx_5_silence_lets_the_call_go_on() -> None:
    assert verdict(NAME, ended("")) == Defer()
    assert CODEX_FORK_V1.no_match == "allow"


def test_cx_6_proceed() -> None:
    assert verdict(NAME, ended({"decision": "proceed"})) == Allow()


def test_cx_7_block_with_its_message() -> None:
    assert verdict(NAME, ended({"decision": "block", "message": "no push"})) == Block("no push")


def test_cx_8_modify_replaces_the_input() -> None:
    run = ended({"decision": "modify", "content": '{"command":"git push --dry-run"}'})
    assert verdict(NAME, run) == Modify({"command": "git push --dry-run"})


@pytest.mark.parametrize(
    "answer", [{"decision": "modify"}, {"decision": "modify", "content": None}]
)
def test_cx_9_modify_without_content_blocks(answer: dict[str, object]) -> None:
    assert verdict(NAME, ended(answer)) == Block("hook returned modify without content field")


def test_cx_10_an_empty_content_is_an_empty_input() -> None:
    event = calling("mcp__fs__list", {"path": "a"}, "mcp")
    assert verdict(NAME, ended({"decision": "modify", "content": ""}), event) == Modify({})


@pytest.mark.parametrize("content", ["git push", "[1]", "{", 5])
def test_content_that_is_no_input_blocks_and_says_the_mend(content: object) -> None:
    assert verdict(NAME, ended({"decision": "modify", "content": content})) == Block(UNREADABLE)


def test_a_prompt_is_replaced_by_the_content_itself() -> None:
    run = ended({"decision": "modify", "content": "in English, please"})
    event = other("prompt.submit")
    assert verdict(NAME, run, event) == Modify({"text": "in English, please"})


def test_nothing_that_is_over_can_be_rewritten() -> None:
    said = verdict(NAME, ended({"decision": "modify", "content": "{}"}), post())
    assert said == Defer("warning: it said modify, which changes nothing at tool.post")


@pytest.mark.parametrize("stdout", ["ok", "{}", "[]", '{"decision":"allow"}', b"\xff\xfe"])
def test_cx_11_an_unparseable_answer_is_a_failure_that_lets_the_call_go_on(
    stdout: str | bytes,
) -> None:
    said = verdict(NAME, ended(stdout))
    assert isinstance(said, Failed)
    assert isinstance(CODEX_FORK_V1.failure, dict)
    assert CODEX_FORK_V1.failure[said.cause] == "open"


@pytest.mark.parametrize("exit_code", [1, 2, 3, 127, 255])
def test_cx_12_any_failing_exit_blocks_with_stderr(exit_code: int) -> None:
    run = ended({"decision": "proceed"}, exit_code, "boom\n")
    assert verdict(NAME, run) == Block("boom")


@pytest.mark.parametrize("exit_code", [1, 2, 127])
def test_cx_12_a_failing_exit_without_words_is_named(exit_code: int) -> None:
    said = verdict(NAME, ended(exit_code=exit_code))
    assert isinstance(said, Block)
    assert f"exited with code {exit_code}" in said.reason


def test_cx_17_an_answer_over_the_limit_cannot_be_trusted_and_blocks() -> None:
    run = ended('{"decision":"proceed"}', stdout_size=(1 << 20) + 1)
    said = verdict(NAME, run)
    assert isinstance(said, Failed)
    assert said.cause == "oversized"
    assert "exceeded the size limit" in said.detail
    assert "cannot be trusted" in said.detail
    assert isinstance(CODEX_FORK_V1.failure, dict)
    assert CODEX_FORK_V1.failure["oversized"] == "closed"


def test_cx_17_a_long_stderr_is_cut_and_blocks_nothing() -> None:
    run = ended({"decision": "proceed"}, stderr="x" * (1 << 20))
    run = msgspec.structs.replace(run, stderr_size=1 << 30)
    assert verdict(NAME, run) == Allow()
    long = verdict(NAME, ended(exit_code=1, stderr="x" * (1 << 20)))
    assert isinstance(long, Block)
    assert len(long.reason) < 2_100


def test_cx_27_a_block_without_words_names_the_hook() -> None:
    assert verdict(NAME, ended({"decision": "block"})) == Block("Blocked by pre_tool_use hook")
    assert verdict(NAME, ended({"decision": "block", "message": 5})) == Block(
        "Blocked by pre_tool_use hook"
    )


def test_cx_28_a_local_shell_call_cannot_be_modified_and_is_blocked() -> None:
    run = ended({"decision": "modify", "content": '{"command":["ls"]}'})
    assert verdict(NAME, run, ARGV_CALL) == Block(ARGV)
    assert "not supported for a local shell call" in ARGV


def test_cx_b3_a_missing_rewrite_is_not_an_empty_one() -> None:
    event = calling("mcp__fs__list", {"path": "a"}, "mcp")
    assert verdict(NAME, ended({"decision": "modify"}), event) == Block(MISSING)
    assert verdict(NAME, ended({"decision": "modify", "content": "{}"}), event) == Modify({})

"""The calls that a transcript says have run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from watchgate.agents.transcripts import MAX_OPEN_CALLS, RanCallReader

SAID = "2026-11-21T10:00:00.000Z"
BEFORE, AFTER = 1_795_255_000_000_000, 1_795_256_000_000_000


def lines(*objects: Any) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in objects)


def use(call_id: str, name: str = "Bash", **args: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": args}
    return {
        "type": "assistant",
        "timestamp": SAID,
        "message": {"role": "assistant", "content": [block]},
    }


def result(call_id: str, *, error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "x", "is_error": error}
    return {
        "type": "user",
        "timestamp": SAID,
        "message": {"role": "user", "content": [block]},
    }


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": SAID, "type": "response_item", "payload": payload}


def test_a_call_of_claude_has_run_once_its_result_is_there() -> None:
    reader = RanCallReader("claude", "stem", BEFORE)
    assert reader.ran(lines(use("toolu_1", command="make"))) == []
    (asked,) = reader.ran(lines(result("toolu_1")))
    tool = asked.tool
    assert (tool.call_id, tool.name, tool.cls) == ("toolu_1", "Bash", "shell")
    assert tool.input == {"command": "make"}
    assert reader.ran(lines(result("toolu_1"))) == []


REFUSED = {
    "kind": {"toolDenialKind": "permission-rule"},
    "validation": {"content": "<tool_use_error>InputValidationError: no command"},
    "hook": {"content": "PreToolUse:Bash hook error: not on a Friday"},
    "dialog": {"content": "The user doesn't want to proceed with this tool use."},
}


@pytest.mark.parametrize("how", REFUSED)
def test_a_refused_call_of_claude_has_not_run_and_one_that_failed_has(how: str) -> None:
    refusal = dict(REFUSED[how])
    end = result("toolu_1", error=True)
    if content := refusal.pop("content", ""):
        end["message"]["content"][0]["content"] = content
    reader = RanCallReader("claude", "stem", BEFORE)
    assert reader.ran(lines(use("toolu_1"), {**end, **refusal})) == []
    failed = result("toolu_2", error=True)
    failed["message"]["content"][0]["content"] = "Exit code 2\nls: cannot access"
    assert len(reader.ran(lines(use("toolu_2"), failed))) == 1


def test_what_was_said_before_is_not_told_again() -> None:
    assert (
        RanCallReader("claude", "stem", AFTER).ran(lines(use("toolu_1"), result("toolu_1"))) == []
    )
    undated = [{**each, "timestamp": None} for each in (use("a"), result("a"))]
    assert RanCallReader("claude", "stem", BEFORE).ran(lines(*undated)) == []


def test_shell_calls_and_patches_of_codex() -> None:
    reader = RanCallReader("codex", "stem", BEFORE)
    ran = reader.ran(
        lines(
            item(
                type="function_call",
                name="exec_command",
                arguments='{"cmd": "ls"}',
                call_id="call_1",
            ),
            item(type="function_call_output", call_id="call_1", output="x"),
            item(type="custom_tool_call", name="apply_patch", input="*** Begin", call_id="call_2"),
            item(type="custom_tool_call_output", call_id="call_2", output="x"),
            item(type="function_call", name="update_plan", arguments="{}", call_id="call_3"),
            item(type="function_call_output", call_id="call_3", output="x"),
        )
    )
    assert [(tool.name, tool.call_id, tool.input) for tool in (each.tool for each in ran)] == [
        ("Bash", "call_1", {"command": "ls"}),
        ("Edit", "call_2", {"command": "*** Begin"}),
    ]


def test_lines_of_any_other_shape_are_passed_over() -> None:
    odd: list[Any] = [
        1,
        [],
        "text",
        {"timestamp": SAID, "message": 5},
        {"timestamp": SAID, "message": {"content": [1, {"type": "tool_use"}]}},
        {"timestamp": 10**30, "type": "response_item", "payload": []},
        item(type="function_call", name=["x"], call_id={}),
        item(type="function_call", name="shell", arguments="[", call_id="c"),
        item(type="function_call_output", call_id="c"),
    ]
    told = lines(*odd) + b"{\n\xff\n" + b"[" * 5_000 + b"\n"
    assert RanCallReader("claude", "stem", BEFORE).ran(told) == []
    (asked,) = RanCallReader("codex", "stem", BEFORE).ran(told)
    assert asked.tool.input == {"command": None}


def test_calls_without_a_result_do_not_pile_up() -> None:
    reader = RanCallReader("claude", "stem", BEFORE)
    for number in range(MAX_OPEN_CALLS + 1):
        reader.ran(lines(use(f"c{number}")))
    assert reader.ran(lines(result("c0"))) == []
    assert len(reader.ran(lines(result("c1")))) == 1


def test_what_a_hook_of_codex_blocked_has_not_run() -> None:
    told = "Command blocked by PreToolUse hook: An operator denied this call. Command: ls"
    args = '{"cmd": "ls"}'
    call = item(type="function_call", name="exec_command", arguments=args, call_id="call_1")
    end = item(type="function_call_output", call_id="call_1", output=told)
    assert RanCallReader("codex", "stem", BEFORE).ran(lines(call, end)) == []


def test_a_fork_of_codex_begins_with_calls_that_ran_before_it() -> None:
    meta = {"id": "child", "forked_from_id": "parent", "timestamp": "2026-11-21T09:59:59.500Z"}
    copied = [
        item(type="function_call", name="shell", arguments="{}", call_id="call_1"),
        item(type="function_call_output", call_id="call_1", output="x"),
    ]
    own = [
        {**each, "timestamp": "2026-11-21T10:00:01.000Z", "payload": {**each["payload"], **new}}
        for new in ({"call_id": "call_2"},)
        for each in copied
    ]
    first = {"timestamp": SAID, "type": "session_meta", "payload": meta}
    ran = RanCallReader("codex", "stem", BEFORE).ran(lines(first, *copied, *own))
    assert [(each.session, each.tool.call_id) for each in ran] == [("child", "call_2")]


def gemini(status: str) -> list[dict[str, Any]]:
    call = {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}, "timestamp": SAID}
    message = {"id": "m", "timestamp": SAID, "type": "gemini", "content": ""}
    head = {"sessionId": "s", "startTime": SAID, "kind": "main"}
    return [head, message, {**message, "toolCalls": [{**call, "status": status}]}]


def qwen(status: str, **more: str) -> list[dict[str, Any]]:
    about = {"sessionId": "s", "cwd": "/w", "timestamp": SAID, "uuid": "u"}
    call = {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}}
    asked = {**about, "type": "assistant", "message": {"parts": [{"functionCall": call}]}}
    end = {"callId": "c1", "status": status, **more}
    return [asked, {**about, "type": "tool_result", "toolCallResult": end}]


def copilot(*, success: bool) -> list[dict[str, Any]]:
    begin = {"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "ls"}}
    told = {
        "session.start": {"sessionId": "s", "context": {"cwd": "/w"}},
        "tool.execution_start": begin,
        "tool.execution_complete": {"toolCallId": "c1", "success": success},
    }
    return [{"type": kind, "timestamp": SAID, "data": data} for kind, data in told.items()]


@pytest.mark.parametrize(
    ("agent", "told", "count"),
    [
        ("gemini", gemini("success"), 1),
        ("gemini", gemini("error"), 0),
        ("gemini", gemini("executing"), 0),
        ("qwen", qwen("success"), 1),
        ("qwen", qwen("error"), 1),
        ("qwen", qwen("error", executionStatus="not_started"), 0),
        ("copilot", copilot(success=True), 1),
        ("copilot", copilot(success=False), 0),
    ],
)
def test_what_ran_by_the_files_of_the_others(
    agent: str, told: list[dict[str, Any]], count: int
) -> None:
    ran = RanCallReader(agent, "stem", BEFORE).ran(lines(*told))
    assert [(each.session, each.tool.input["command"]) for each in ran] == [("s", "ls")] * count

"""The calls that a transcript says have run."""

from __future__ import annotations

import json
from typing import Any

from watchgate.agents.transcripts import CALLS_KEPT, Reader

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
    reader = Reader("claude", BEFORE)
    assert reader.ran(lines(use("toolu_1", command="make"))) == []
    (tool,) = reader.ran(lines(result("toolu_1")))
    assert (tool.call_id, tool.name, tool.cls) == ("toolu_1", "Bash", "shell")
    assert tool.input == {"command": "make"}
    assert reader.ran(lines(result("toolu_1"))) == []


def test_a_failure_tells_nothing_for_a_refused_call_looks_the_same() -> None:
    reader = Reader("claude", BEFORE)
    assert reader.ran(lines(use("toolu_1"), result("toolu_1", error=True))) == []


def test_what_was_said_before_is_not_told_again() -> None:
    assert Reader("claude", AFTER).ran(lines(use("toolu_1"), result("toolu_1"))) == []
    undated = [{**each, "timestamp": None} for each in (use("a"), result("a"))]
    assert Reader("claude", BEFORE).ran(lines(*undated)) == []


def test_shell_calls_and_patches_of_codex() -> None:
    reader = Reader("codex", BEFORE)
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
    assert [(tool.name, tool.call_id, tool.input) for tool in ran] == [
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
    assert Reader("claude", BEFORE).ran(told) == []
    (tool,) = Reader("codex", BEFORE).ran(told)
    assert tool.input == {}


def test_calls_without_a_result_do_not_pile_up() -> None:
    reader = Reader("claude", BEFORE)
    for number in range(CALLS_KEPT + 1):
        reader.ran(lines(use(f"c{number}")))
    assert reader.ran(lines(result("c0"))) == []
    assert len(reader.ran(lines(result("c1")))) == 1


def test_what_a_hook_of_codex_blocked_has_not_run() -> None:
    told = "Command blocked by PreToolUse hook: An operator denied this call. Command: ls"
    args = '{"cmd": "ls"}'
    call = item(type="function_call", name="exec_command", arguments=args, call_id="call_1")
    end = item(type="function_call_output", call_id="call_1", output=told)
    assert Reader("codex", BEFORE).ran(lines(call, end)) == []

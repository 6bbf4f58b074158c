"""Claude Code's hook calls become events."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.payloads import CALL, NOW, decoded, payload
from watchgate.agents.base import DecodeError, Intake
from watchgate.agents.claude import ClaudeAdapter
from watchgate.core.model.events import (
    Body,
    Can,
    Lane,
    SessionChange,
    Sub,
    Text,
    ToolBatch,
    ToolCall,
    ToolResult,
)

CLAUDE = ClaudeAdapter()
TRANSCRIPT = "/home/dev/t.jsonl"


def change(what: str, detail: str = "", model: str | None = None) -> SessionChange:
    return SessionChange(what=what, detail=detail, model=model, transcript=TRANSCRIPT)


TEXTS: list[tuple[str, dict[str, Any], str, Body]] = [
    (
        "SessionStart",
        {"source": "resume", "model": "m"},
        "session.start",
        change("resume", "", "m"),
    ),
    ("SessionEnd", {"reason": "logout"}, "session.end", change("logout")),
    ("UserPromptSubmit", {"prompt": "fix it"}, "prompt.submit", Text("fix it")),
    ("UserPromptExpansion", {"prompt": "/deploy now"}, "notice", Text("/deploy now")),
    ("Stop", {"last_assistant_message": "Done."}, "turn.end", Text("Done.")),
    (
        "StopFailure",
        {"error": "overloaded", "error_details": "529", "last_assistant_message": ""},
        "turn.error",
        Text("overloaded: 529"),
    ),
    ("SubagentStart", {"agent_id": "a", "agent_type": "Explore"}, "agent.start", Text("Explore")),
    ("SubagentStop", {"agent_id": "a", "last_assistant_message": "ok"}, "agent.stop", Text("ok")),
    ("PreCompact", {"trigger": "auto", "custom_instructions": None}, "compact.pre", change("auto")),
    (
        "PostCompact",
        {"trigger": "manual", "compact_summary": "short"},
        "compact.post",
        change("manual", "short"),
    ),
    ("PreModelSwitch", {"to_model": "m2"}, "session.change", change("model switch asked", "m2")),
    ("PostModelSwitch", {"to_model": "m2"}, "session.change", change("model switch", "m2")),
    (
        "ConfigChange",
        {"source": "user_settings", "file_path": "/x.json"},
        "session.change",
        change("config", "user_settings: /x.json"),
    ),
    ("CwdChanged", {"new_cwd": "/srv"}, "session.change", change("working directory", "/srv")),
    ("DirectoryAdded", {"directory": "/l"}, "session.change", change("directory added", "/l")),
    (
        "InstructionsLoaded",
        {"file_path": "/A.md"},
        "session.change",
        change("instructions", "/A.md"),
    ),
    ("WorktreeCreate", {"name": "wt"}, "session.change", change("worktree", "wt")),
    ("WorktreeRemove", {"worktree_path": "/w"}, "session.change", change("worktree removed", "/w")),
    ("Notification", {"message": "Waiting"}, "notice", Text("Waiting")),
    ("TaskCreated", {"task_subject": "Tests"}, "task.created", Text("Tests")),
    ("TaskCompleted", {"task_subject": "Tests"}, "task.done", Text("Tests")),
    ("MessageDisplay", {"delta": "Hel", "index": 0}, "message", Text("Hel")),
    ("ElicitationResult", {"action": "accept"}, "notice", Text('{"action":"accept"}')),
    ("TeammateIdle", {"teammate_name": "bo"}, "notice", Text('{"teammate_name":"bo"}')),
    ("Setup", {"trigger": "init"}, "notice", Text('{"trigger":"init"}')),
    ("FileChanged", {"file_path": "/.env"}, "notice", Text('{"file_path":"/.env"}')),
    ("OfNextYear", {"prompt": {"new": [1]}}, "notice", Text('{"prompt":{"new":[1]}}')),
]
CALLS = [
    ("PreToolUse", "tool.pre", ToolCall),
    ("PermissionRequest", "tool.permission", ToolCall),
    ("PermissionDenied", "tool.permission.resolved", ToolCall),
    ("PostToolUse", "tool.post", ToolResult),
    ("PostToolUseFailure", "tool.error", ToolResult),
]


@pytest.mark.parametrize(("native", "fields", "kind", "body"), TEXTS)
def test_every_event_has_its_kind_and_words(
    native: str, fields: dict[str, Any], kind: str, body: Body
) -> None:
    event = decoded(CLAUDE, native, **fields)

    assert (event.kind, event.native, event.body) == (kind, native, body)


@pytest.mark.parametrize(("native", "kind", "body"), CALLS)
def test_events_of_a_call_carry_the_call(native: str, kind: str, body: type[Body]) -> None:
    event = decoded(CLAUDE, native, **CALL)

    assert (event.kind, type(event.body)) == (kind, body)
    assert event.tool is not None
    assert (event.tool.name, event.tool.cls, event.tool.call_id) == ("Bash", "shell", "toolu_7")


def test_all_33_events_are_covered() -> None:
    """But for those of questions, which have their own tests."""
    assert (
        len({row[0] for row in TEXTS if row[0] != "OfNextYear"} | {row[0] for row in CALLS}) == 31
    )
    assert decoded(CLAUDE, "PostToolBatch", tool_calls=[CALL]).kind == "tool.batch"


def test_the_header_of_an_event_is_read() -> None:
    event = decoded(
        CLAUDE,
        "PreToolUse",
        lane=Lane.GATE,
        prompt_id="p-1",
        permission_mode="plan",
        agent_id="a-1",
        agent_type="Explore",
        **CALL,
    )

    assert (event.agent, event.session, event.turn) == ("claude", "s-1", "p-1")
    assert (event.cwd, event.mode, event.at) == ("/home/dev/shop", "plan", NOW)
    assert event.sub == Sub("a-1", "Explore")


def test_a_result_tells_what_the_command_printed_and_how_long_it_took() -> None:
    response = {"stdout": "out", "stderr": "err", "interrupted": True}

    event = decoded(CLAUDE, "PostToolUse", tool_response=response, duration_ms=67.6, **CALL)

    assert isinstance(event.body, ToolResult)
    assert event.body.ok
    assert (event.body.text, event.body.took_ms, event.body.interrupted) == ("out\nerr", 68, True)


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image"}]}, "a"),
        ({"type": "create", "filePath": "/x"}, '{"type":"create","filePath":"/x"}'),
    ],
)
def test_other_tools_results_are_put_into_words(response: object, text: str) -> None:
    body = decoded(CLAUDE, "PostToolUse", tool_response=response, **CALL).body

    assert isinstance(body, ToolResult)
    assert body.text == text


def test_a_long_result_is_carried_whole() -> None:
    body = decoded(CLAUDE, "PostToolUse", tool_response="x" * 100_000, **CALL).body

    assert isinstance(body, ToolResult)
    assert len(body.text) == 100_000


def test_a_failure_is_not_ok() -> None:
    body = decoded(
        CLAUDE, "PostToolUseFailure", error="Exit code 2", is_interrupt=False, **CALL
    ).body

    assert isinstance(body, ToolResult)
    assert (body.ok, body.text, body.interrupted) == (False, "Exit code 2", False)


def test_a_batch_names_all_its_calls() -> None:
    body = decoded(CLAUDE, "PostToolBatch", tool_calls=[CALL, {**CALL, "tool_use_id": "t8"}]).body

    assert isinstance(body, ToolBatch)
    assert [tool.call_id for tool in body.tools] == ["toolu_7", "t8"]


@pytest.mark.parametrize(
    ("mode", "env", "autonomous"),
    [
        ("default", {}, False),
        ("acceptEdits", {}, False),
        ("plan", {"CLAUDE_CODE_SESSION_ATTENDED": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"}, False),
        ("bypassPermissions", {}, True),
        ("auto", {}, True),
        ("dontAsk", {}, True),
        ("default", {"CLAUDE_CODE_SESSION_ATTENDED": "0"}, True),
        ("default", {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, True),
        (None, {}, False),
    ],
)
def test_who_sits_in_front_of_it(mode: str | None, env: dict[str, str], autonomous: bool) -> None:
    event = decoded(CLAUDE, "PreToolUse", env=env, permission_mode=mode, **CALL)

    assert event.autonomous is autonomous


@pytest.mark.parametrize(
    ("native", "mode", "tool", "unasked"),
    [
        ("PreToolUse", "default", "Bash", False),
        ("PreToolUse", None, "Bash", True),
        ("PreToolUse", "bypassPermissions", "Bash", True),
        ("PreToolUse", "auto", "Bash", True),
        ("PreToolUse", "dontAsk", "Bash", False),
        ("PreToolUse", "acceptEdits", "Write", True),
        ("PreToolUse", "acceptEdits", "Bash", False),
        ("PermissionRequest", "auto", "Bash", False),
    ],
)
def test_whether_a_handback_runs_the_call(
    native: str, mode: str | None, tool: str, unasked: bool
) -> None:
    event = decoded(CLAUDE, native, lane=Lane.GATE, permission_mode=mode, tool_name=tool)

    assert event.runs_unasked is unasked


def test_what_can_be_told() -> None:
    everything = Can(allow=True, deny=True, modify=True, stop=True)

    assert decoded(CLAUDE, "PreToolUse", lane=Lane.GATE, **CALL).can == everything
    assert decoded(CLAUDE, "PermissionRequest", lane=Lane.RELAY, **CALL).can == everything
    assert decoded(CLAUDE, "PreToolUse", lane=Lane.OBSERVE, **CALL).can == Can()
    assert decoded(CLAUDE, "Stop", lane=Lane.GATE).can == Can()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "not a hook payload"),
        (b"\xff{}", "not a hook payload"),
        (b"[1]", "not a hook payload"),
        (b'{"session_id": 7, "hook_event_name": "Stop"}', "not a hook payload"),
        (b'{"session_id": "s", "tool_input": "x"}', "not a hook payload"),
        (b'{"session_id": "s"}', "does not name its event"),
        (b'{"hook_event_name": "Stop"}', "does not name its session"),
        (b'{"session_id": "s", "hook_event_name": "PreToolUse"}', "does not name its tool"),
        (b'{"a":' * 5000, "not a hook payload"),
    ],
)
def test_what_is_no_payload_is_an_error(raw: bytes, says: str) -> None:
    with pytest.raises(DecodeError, match=says):
        CLAUDE.decode(raw, Intake(lane=Lane.GATE, at=NOW))


@pytest.mark.parametrize("value", [b'"\xff"', b"1e999", b"[" * 100_000 + b"]" * 100_000])
def test_a_field_that_nobody_typed_may_hold_anything(value: bytes) -> None:
    raw = b'{"session_id": "s", "hook_event_name": "Later", "new": ' + value + b"}"
    with pytest.raises(DecodeError, match="not a hook payload"):
        CLAUDE.decode(raw, Intake(lane=Lane.OBSERVE, at=NOW))


def test_the_frame_names_the_event_where_the_payload_does_not() -> None:
    raw = b'{"session_id": "s", "prompt": "hi"}'

    event = CLAUDE.decode(raw, Intake(lane=Lane.OBSERVE, at=NOW, native="UserPromptSubmit"))

    assert (event.kind, event.body) == ("prompt.submit", Text("hi"))


def test_the_payload_is_believed_before_the_frame() -> None:
    event = CLAUDE.decode(payload("Stop"), Intake(lane=Lane.GATE, at=NOW, native="PreToolUse"))

    assert event.native == "Stop"

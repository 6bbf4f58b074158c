from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest

from watchgate.core import codewhale
from watchgate.core.codewhale import Envelope, HookEvent, codewhale_frames

EVENTS: list[tuple[HookEvent, dict[str, Any]]] = [
    (codewhale.ResponseStartEvent("r"), {"type": "response_start", "response_id": "r"}),
    (
        codewhale.ResponseDeltaEvent("r", "Hel"),
        {"type": "response_delta", "response_id": "r", "delta": "Hel"},
    ),
    (codewhale.ResponseEndEvent("r"), {"type": "response_end", "response_id": "r"}),
    (
        codewhale.ToolLifecycle("t", "exec_shell", "completed", {"ok": True}),
        {
            "type": "tool_lifecycle",
            "response_id": "t",
            "tool_name": "exec_shell",
            "phase": "completed",
            "payload": {"ok": True},
        },
    ),
    (
        codewhale.JobLifecycle("j", "running", 40),
        {
            "type": "job_lifecycle",
            "job_id": "j",
            "phase": "running",
            "progress": 40,
            "detail": None,
        },
    ),
    (
        codewhale.ApprovalLifecycle("a", "denied"),
        {"type": "approval_lifecycle", "approval_id": "a", "phase": "denied", "reason": None},
    ),
    (
        codewhale.GenericEventFrame({"event": "turn_started", "turn_id": "t"}),
        {"type": "generic_event_frame", "frame": {"event": "turn_started", "turn_id": "t"}},
    ),
    (codewhale.SerializationError(), {"type": "serialization_error"}),
]


@pytest.mark.parametrize(("event", "wire"), EVENTS, ids=[wire["type"] for _, wire in EVENTS])
def test_cw_1_every_event_is_an_object_with_its_type_in_snake_case(
    event: HookEvent, wire: dict[str, Any]
) -> None:
    assert json.loads(msgspec.json.encode(event)) == wire
    assert msgspec.convert(wire, HookEvent) == event


def test_cw_1_no_variant_is_left_out_of_these_tests() -> None:
    assert {type(event) for event, _ in EVENTS} == set(get_args(HookEvent))


def test_cw_2_an_unset_optional_field_is_null_and_never_left_out() -> None:
    job = json.loads(msgspec.json.encode(codewhale.JobLifecycle("j", "end")))
    approval = json.loads(msgspec.json.encode(codewhale.ApprovalLifecycle("a", "requested")))
    assert (job["progress"], job["detail"], approval["reason"]) == (None, None, None)


def test_a_phase_is_any_text_and_a_field_of_a_later_version_is_passed_over() -> None:
    line = (
        b'{"at":"2026-05-31T11:19:28Z","event":{"type":"tool_lifecycle","response_id":"t",'
        b'"tool_name":"x","phase":"start","payload":{},"later":1},"more":2}'
    )
    event = msgspec.json.decode(line, type=Envelope).event
    assert event == codewhale.ToolLifecycle("t", "x", "start", {})


def test_cw_11_a_frame_says_what_it_is_in_event_and_not_in_type() -> None:
    frame = json.loads(msgspec.json.encode(codewhale_frames.TurnComplete("t")))
    assert frame == {"event": "turn_complete", "turn_id": "t"}


def test_cw_11_a_channel_and_the_unset_fields_of_a_request_are_left_out_and_its_lists_are_not() -> (
    None
):
    delta = json.loads(msgspec.json.encode(codewhale_frames.ResponseDelta("r", "text")))
    assert delta == {"event": "response_delta", "response_id": "r", "delta": "text"}
    asked = json.loads(
        msgspec.json.encode(codewhale_frames.ApprovalQuestion("c", "a", "t", "ls", "/", "why"))
    )
    assert asked == {
        "call_id": "c",
        "approval_id": "a",
        "turn_id": "t",
        "command": "ls",
        "cwd": "/",
        "reason": "why",
        "proposed_execpolicy_amendment": [],
        "proposed_network_policy_amendments": [],
        "additional_permissions": [],
        "available_decisions": [],
    }


FRAMES: list[dict[str, Any]] = [
    {"event": "response_start", "response_id": "r"},
    {"event": "response_delta", "response_id": "r", "delta": "hm", "channel": "reasoning"},
    {"event": "response_end", "response_id": "r"},
    {"event": "tool_call_start", "response_id": "t", "tool_name": "x", "arguments": {"a": 1}},
    {"event": "tool_call_result", "response_id": "t", "tool_name": "x", "output": {"body": ""}},
    {"event": "mcp_startup_update", "update": {"server_name": "fs", "status": "starting"}},
    {
        "event": "mcp_startup_update",
        "update": {"server_name": "fs", "status": {"failed": {"error": "exit 1"}}},
    },
    {
        "event": "mcp_startup_complete",
        "summary": {"ready": ["fs"], "failed": [], "cancelled": []},
    },
    {"event": "mcp_tool_call_begin", "server_name": "fs", "tool_name": "read"},
    {"event": "mcp_tool_call_end", "server_name": "fs", "tool_name": "read", "ok": True},
    {
        "event": "apply_patch_approval_request",
        "request": {
            "call_id": "c",
            "approval_id": "a",
            "turn_id": "t",
            "command": "apply patch",
            "cwd": "/",
            "reason": "outside",
            "network_approval_context": {"host": "example.org", "protocol": "https"},
            "proposed_execpolicy_amendment": [],
            "proposed_network_policy_amendments": [{"host": "example.org", "action": "allow"}],
            "additional_permissions": [],
            "available_decisions": [{"type": "approved"}],
        },
    },
    {
        "event": "exec_approval_request",
        "request": {
            "call_id": "c",
            "approval_id": "a",
            "turn_id": "t",
            "command": "git push",
            "cwd": "/",
            "reason": "push",
            "matched_rule": "git push",
            "proposed_execpolicy_amendment": ["git push"],
            "proposed_network_policy_amendments": [],
            "additional_permissions": [],
            "available_decisions": [{"type": "denied"}],
        },
    },
    {"event": "user_input_request", "request": {"call_id": "c", "questions": []}},
    {"event": "elicitation_request", "server_name": "fs", "request_id": "e", "prompt": "Token?"},
    {"event": "exec_command_begin", "command": "ls", "cwd": "/"},
    {"event": "exec_command_output_delta", "command": "ls", "delta": "a\n"},
    {"event": "exec_command_end", "command": "ls", "exit_code": 0},
    {"event": "patch_apply_begin", "path": "a.py"},
    {"event": "patch_apply_end", "path": "a.py", "ok": True},
    {"event": "turn_started", "turn_id": "t"},
    {"event": "turn_complete", "turn_id": "t"},
    {"event": "turn_aborted", "turn_id": "t", "reason": "user"},
    {"event": "thread_goal_cleared", "thread_id": "t"},
    {"event": "error", "response_id": "t", "message": "denied"},
]


@pytest.mark.parametrize("wire", FRAMES, ids=[wire["event"] for wire in FRAMES])
def test_cw_11_every_frame_is_read_and_written_as_it_is_on_the_wire(wire: dict[str, Any]) -> None:
    frame = codewhale_frames.known_frame(wire)
    assert frame is not None
    assert json.loads(msgspec.json.encode(frame)) == wire


def test_cw_11_lists_that_are_left_out_are_read_as_empty() -> None:
    request = {"call_id": "c", "approval_id": "a", "turn_id": "t"}
    frame = codewhale_frames.known_frame({"event": "exec_approval_request", "request": request})
    assert isinstance(frame, codewhale_frames.ExecApprovalRequest)
    assert frame.request.available_decisions == []


def test_no_frame_is_left_out_of_these_tests_and_an_unknown_one_is_none() -> None:
    assert {type(codewhale_frames.known_frame(wire)) for wire in FRAMES} == set(
        get_args(codewhale_frames.Frame)
    )
    assert codewhale_frames.known_frame({"event": "of_a_later_version"}) is None
    assert codewhale_frames.known_frame("no object") is None

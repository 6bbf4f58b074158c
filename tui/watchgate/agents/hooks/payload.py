"""The JSON that Claude Code, Codex and their kin write to a hook's standard input."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.base import DecodeError, Intake
from watchgate.core import decoding
from watchgate.core.events import Folder, Name
from watchgate.core.json_faults import JSON_FAULTS


class HookPayload(msgspec.Struct, frozen=True, gc=False):
    """One hook call. What identifies it is typed; what differs between events is `Any`."""

    session_id: Name = ""
    hook_event_name: Name = ""
    event_type: Name = ""
    cwd: Folder = ""
    prompt_id: Name | None = None
    turn_id: Name | None = None
    permission_mode: Name | None = None
    agent_id: Name | None = None
    agent_type: Name | None = None
    tool_name: Name = ""
    tool_input: dict[str, Any] = {}
    tool_use_id: Name | None = None
    tool_calls: list[CallPayload] = []
    transcript_path: Any = None
    model: Any = None
    tool_response: Any = None
    duration_ms: Any = None
    is_interrupt: Any = None
    prompt: Any = None
    message: Any = None
    notification_type: Any = None
    level: Any = None
    delta: Any = None
    error: Any = None
    error_details: Any = None
    last_assistant_message: Any = None
    source: Any = None
    reason: Any = None
    trigger: Any = None
    file_path: Any = None
    new_cwd: Any = None
    directory: Any = None
    to_model: Any = None
    name: Any = None
    worktree_path: Any = None
    task_subject: Any = None
    compact_summary: Any = None


class CallPayload(msgspec.Struct, frozen=True, gc=False):
    """One call of a batch."""

    tool_name: Name = ""
    tool_input: dict[str, Any] = {}
    tool_use_id: Name | None = None


_DECODER = decoding.decoder(HookPayload)
_COMMON = frozenset(
    (
        "session_id",
        "hook_event_name",
        "event_type",
        "triggered_at",
        "cwd",
        "prompt_id",
        "turn_id",
        "permission_mode",
        "agent_id",
        "agent_type",
        "transcript_path",
        "model",
        "effort",
    )
)


def decode(payload: bytes, intake: Intake) -> tuple[HookPayload, str]:
    """Returns the payload and its event's name, from the payload or else the frame's header.

    Raises `DecodeError` when it is no JSON object of this family, or names no session or event.
    """
    try:
        decoded = _DECODER.decode(payload)
    except JSON_FAULTS as error:
        raise DecodeError(f"not a hook payload: {error}") from error
    native = decoded.hook_event_name or decoded.event_type or intake.native
    if not native:
        raise DecodeError("the payload does not name its event (hook_event_name)")
    if not decoded.session_id:
        raise DecodeError("the payload does not name its session (session_id)")
    return decoded, native


def rest(payload: bytes) -> str:
    """Returns the fields that only this event has, as JSON: for events that nobody described.

    Raises `DecodeError`: fields that nobody typed were skipped so far, and may hold anything.
    """
    try:
        fields: dict[str, Any] = msgspec.json.decode(payload)
    except JSON_FAULTS as error:
        raise DecodeError(f"not a hook payload: {error}") from error
    own = {key: value for key, value in fields.items() if key not in _COMMON}
    return text(own) if own else ""


def text(value: Any) -> str:
    """Returns the value in words, all of them: a string as it is, nothing for null, else JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()

"""The hook payloads of the fork's first version are brought into the form of its second.

The first wraps the event (`hook_event`, named by `event_type` in snake case) and gives a tool's
input as a text, in which a shell call keeps the bounds of its arguments. The second is flat, as
codex's own is. Wire format: RyderFreeman4Logos/codex, the branch of its PR 3, and PR 10.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.agents.base import DecodeError
from watchgate.core.json_faults import JSON_FAULTS

SHELLS: Final = frozenset(("shell", "local_shell", "shell_command", "exec_command"))
"""Names under which the fork's tools run a command; hooks of its second version see `Bash`."""

_MARK = b'"hook_event"'
_NAMES: Final = {
    "after_agent": "AfterAgent",
    "notification": "Notification",
    "post_tool_use": "PostToolUse",
    "pre_tool_use": "PreToolUse",
    "stop": "Stop",
    "user_prompt_submit": "UserPromptSubmit",
}
_FIELDS: Final = {"tool_output": "tool_response", "user_message": "prompt"}


def flat(payload: bytes) -> bytes:
    """Returns the payload in the flat form; one that is not of the first version as it is.

    Raises `DecodeError` for a call that names its command twice: only one of them would be judged.
    """
    if _MARK not in payload:
        return payload
    try:
        outer = msgspec.json.decode(payload)
    except JSON_FAULTS:
        return payload  # whoever reads it next says what is wrong
    if not isinstance(outer, dict) or not isinstance(outer.get("hook_event"), dict):
        return payload
    event: dict[str, Any] = outer.pop("hook_event")
    named = event.pop("event_type", None)
    fields = {_FIELDS.get(key, key): value for key, value in event.items()}
    if "tool_input" in fields:
        fields["tool_input"] = _input(fields["tool_input"], fields.get("tool_name"))
    if isinstance(named, str):
        fields["hook_event_name"] = _NAMES.get(named, named)
    return msgspec.json.encode({**outer, **fields})


def _input(given: Any, tool: Any) -> dict[str, Any]:
    """Returns the input as an object: a text that holds none is kept whole under `input`."""
    args = given
    if isinstance(given, str):
        try:
            args = msgspec.json.decode(given)
        except (*JSON_FAULTS, UnicodeEncodeError):
            args = given
    if not isinstance(args, dict):
        args = {"input": given}
    if tool in SHELLS and "cmd" in args:
        if "command" in args:
            raise DecodeError("a shell call with both command and cmd: nobody can tell which runs")
        args = {"command": args["cmd"], **args}
    return args

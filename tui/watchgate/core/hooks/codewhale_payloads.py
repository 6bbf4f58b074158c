"""The input of CodeWhale's lifecycle hooks, in variables and on stdin.

Source of the wire format: Hmbown/CodeWhale, docs/HOOKS.md. Its variables carry only a beginning of
a long tool input; so that no gate judges half a call, stdin here carries all of it as well.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.core.events import Event, ToolResult
from watchgate.core.hooks.bodies import model, tool_input, words
from watchgate.core.hooks.exchange import Exchange
from watchgate.core.hooks.texts import compact, environment, utc_seconds

EVENTS: Final = {
    "session.start": "session_start",
    "session.end": "session_end",
    "session.change": "mode_change",
    "prompt.submit": "message_submit",
    "tool.pre": "tool_call_before",
    "tool.permission": "tool_call_before",
    "tool.post": "tool_call_after",
    "tool.error": "tool_call_after",
    "turn.error": "on_error",
    "turn.end": "turn_end",
    "agent.start": "subagent_spawn",
    "agent.stop": "subagent_complete",
}
STDIN_CAP_BYTES: Final = 32 * 1024
_MESSAGE_BYTES: Final = 5_000
_TOOL_BYTES: Final = 10_000
_CUT: Final = "...[truncated]"
_MESSAGE_EVENTS: Final = ("message_submit", "subagent_spawn", "subagent_complete")
_PREVIEWS: Final = {"subagent_spawn": "prompt", "subagent_complete": "result"}


def ask(event: Event, _handler_id: str) -> Exchange:
    """Builds the variables of the event, and its JSON document."""
    name = EVENTS.get(event.kind, event.kind.replace(".", "_"))
    return Exchange(_document(name, event), _variables(name, event))


def _variables(name: str, event: Event) -> dict[str, str]:
    values: dict[str, str | None] = {
        "DEEPSEEK_SESSION_ID": event.session,
        "DEEPSEEK_WORKSPACE": event.cwd,
        "DEEPSEEK_MODEL": model(event),
        "DEEPSEEK_MODE": event.mode,
    }
    tool, body = event.tool, event.body
    if name in _MESSAGE_EVENTS:
        values["DEEPSEEK_MESSAGE"] = _preview(words(event), _MESSAGE_BYTES)
    if name == "on_error":
        values["DEEPSEEK_ERROR"] = _preview(words(event), _MESSAGE_BYTES)
    if tool is not None:
        values["DEEPSEEK_TOOL_NAME"] = tool.native_name
        values["DEEPSEEK_TOOL_CALL_ID"] = tool.call_id
    if name == "tool_call_before":
        args = compact(tool_input(event))
        values["DEEPSEEK_TOOL_ARGS"] = _preview(args, _TOOL_BYTES)
        # Half an input may look harmless; a gate has to see that there is more of it on stdin.
        values["DEEPSEEK_TOOL_ARGS_TRUNCATED"] = "true" if _is_long(args) else None
    if isinstance(body, ToolResult):
        values["DEEPSEEK_TOOL_RESULT"] = _preview(body.text, _TOOL_BYTES)
        values["DEEPSEEK_TOOL_SUCCESS"] = "true" if body.ok else "false"
    return environment(values)


def _document(name: str, event: Event) -> bytes:
    payload: dict[str, Any] = {
        "event": name,
        "session_id": event.session,
        "turn_id": event.turn,
        "created_at": utc_seconds(event.at),
        "workspace": event.cwd,
        "mode": event.mode,
        "model": model(event),
    }
    if name == "message_submit":
        return bounded(payload, words(event), whole=event.lane.waits)
    if event.tool is not None:
        payload |= {
            "tool_name": event.tool.native_name,
            "tool_call_id": event.tool.call_id,
            "tool_args": event.tool.input,
        }
    elif name in _PREVIEWS:
        text = words(event)
        preview = _preview(text, _MESSAGE_BYTES)
        what = _PREVIEWS[name]
        payload |= {
            "agent_id": event.sub.id if event.sub else None,
            f"{what}_preview": preview,
            f"{what}_truncated": preview != text,
        }
    return msgspec.json.encode(payload)


def bounded(payload: dict[str, Any], text: str, *, whole: bool = False) -> bytes:
    """Encodes the document with as much of the text, from its beginning, as 32 KiB of JSON hold.

    Raises `ValueError` where that is not all of it and `whole` demands so: a gate that reads half a
    prompt would let the other half pass.
    """
    original = len(text.encode())

    def document(chars: int) -> bytes:
        part = text[:chars]
        sizes = {"text_bytes": len(part.encode()), "text_original_bytes": original}
        return msgspec.json.encode(
            {**payload, "text": part, **sizes, "text_truncated": len(part) < len(text)}
        )

    fits, too_many = 0, min(len(text), STDIN_CAP_BYTES) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if len(document(middle)) <= STDIN_CAP_BYTES:
            fits = middle
        else:
            too_many = middle
    if whole and fits < len(text):
        raise ValueError(
            f"the prompt has {original} bytes, and this protocol carries at most 32 KiB of JSON;"
            ' a handler with protocol = "console" reads all of it'
        )
    return document(fits)


def _is_long(args: str) -> bool:
    return len(args.encode()) > _TOOL_BYTES


def _preview(text: str, size_bytes: int) -> str:
    encoded = text.encode()
    if len(encoded) <= size_bytes:
        return text
    return encoded[: size_bytes - len(_CUT)].decode(errors="ignore") + _CUT

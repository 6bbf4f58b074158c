"""CodeWhale's lifecycle hooks: two events are steered, the others are only sent.

Source of the wire format: Hmbown/CodeWhale, docs/HOOKS.md. Exit 2 denies whatever is on stdout.

The input of CodeWhale's lifecycle hooks, in variables and on stdin.

Source of the wire format: Hmbown/CodeWhale, docs/HOOKS.md. Its variables carry only a beginning of
a long tool input; so that no gate judges half a call, stdin here carries all of it as well.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.core.dispatch.hooks.hook_exchange import ExitMap, HookInput, HookProtocol
from watchgate.core.dispatch.hooks.hook_texts import (
    compact_json,
    environment,
    event_text,
    json_answer,
    model_name,
    text_field,
    tool_input,
    utc_seconds,
)
from watchgate.core.model.events import Event, ToolResult
from watchgate.core.model.verdicts import (
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    Modify,
    Report,
    Verdict,
)

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


def ask(event: Event, _handler_id: str) -> HookInput:
    """Builds the variables of the event, and its JSON document."""
    name = EVENTS.get(event.kind, event.kind.replace(".", "_"))
    return HookInput(_document(name, event), _variables(name, event))


def _variables(name: str, event: Event) -> dict[str, str]:
    values: dict[str, str | None] = {
        "DEEPSEEK_SESSION_ID": event.session,
        "DEEPSEEK_WORKSPACE": event.cwd,
        "DEEPSEEK_MODEL": model_name(event),
        "DEEPSEEK_MODE": event.mode,
    }
    tool, body = event.tool, event.body
    if name in _MESSAGE_EVENTS:
        values["DEEPSEEK_MESSAGE"] = _preview(event_text(event), _MESSAGE_BYTES)
    if name == "on_error":
        values["DEEPSEEK_ERROR"] = _preview(event_text(event), _MESSAGE_BYTES)
    if tool is not None:
        values["DEEPSEEK_TOOL_NAME"] = tool.native_name
        values["DEEPSEEK_TOOL_CALL_ID"] = tool.call_id
    if name == "tool_call_before":
        args = compact_json(tool_input(event))
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
        "model": model_name(event),
    }
    if name == "message_submit":
        return bounded(payload, event_text(event), whole=event.lane.waits)
    if event.tool is not None:
        payload |= {
            "tool_name": event.tool.native_name,
            "tool_call_id": event.tool.call_id,
            "tool_args": event.tool.input,
        }
    elif name in _PREVIEWS:
        text = event_text(event)
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


MAX_INPUT_BYTES: Final = 32 * 1024
MAX_TEXT_CHARS: Final = 32_000
NO_REASON: Final = "Blocked by a hook that gave no reason"
NO_QUESTION: Final = "A hook wants an operator to decide and did not say why"
NOT_REWRITTEN: Final = " (its updatedInput is not used: what an operator decides on is the call)"
_INPUT_UNFIT: Final = "updatedInput must be an object of at most 32 KiB"


def read(stdout: str, event: Event) -> Report:
    """Reads the decision about a tool call, or the text that replaces a message."""
    if not stdout.strip():
        return Report(verdict=Defer())
    fields = json_answer(stdout)
    if isinstance(fields, Failed):
        return Report(verdict=Defer(f"ignored: {fields.detail}"))
    if event.kind == "prompt.submit":
        return Report(verdict=_message(fields))
    return Report(
        verdict=_tool_call(fields), text=text_field(_printable(fields.get("additionalContext")))
    )


def reason_in(stdout: str) -> str:
    """Returns the reason of an answer that came with exit 2; empty without one."""
    fields = json_answer(stdout)
    return "" if isinstance(fields, Failed) else text_field(_printable(fields.get("reason")))


def _tool_call(fields: dict[str, Any]) -> Verdict:
    reason = text_field(_printable(fields.get("reason")))
    new = fields.get("updatedInput")
    match fields.get("decision"):
        case "deny":
            return Block(reason or NO_REASON)
        case "ask":
            note = NOT_REWRITTEN if new is not None else ""
            return Confirm((reason or NO_QUESTION) + note)
        case "allow" | None if new is not None:
            return Modify(new, reason) if _fits(new) else Failed("malformed", _INPUT_UNFIT)
        case "allow":
            return Allow(reason)
        case None:
            return Defer(reason)
    return Failed("protocol", "decision must be allow, deny or ask")


def _message(fields: dict[str, Any]) -> Verdict:
    if "text" not in fields:
        return Defer()
    text = fields["text"]
    if not isinstance(text, str) or not text or len(text) > MAX_TEXT_CHARS:
        return Defer(f"ignored: text must have 1 to {MAX_TEXT_CHARS} characters")
    return Modify({"text": text})


def _fits(new: Any) -> bool:
    return isinstance(new, dict) and len(msgspec.json.encode(new)) <= MAX_INPUT_BYTES


def _printable(text: Any) -> Any:
    """Returns the text without control characters: a hook must not paint on a screen."""
    if not isinstance(text, str):
        return None
    return "".join(char for char in text if char.isprintable() or char in "\n\t")


_TOOL: Final[ExitMap] = {0: "parse", 2: "block", "other": "answer"}

CODEWHALE: Final = HookProtocol(
    name="codewhale",
    ask=ask,
    read=read,
    events=EVENTS,
    exits={0: "pass", "other": "fail"},
    exits_at={
        "tool.pre": _TOOL,
        "tool.permission": _TOOL,
        "prompt.submit": {0: "parse", 2: "block", "other": "fail"},
    },
    silent_block=NO_REASON,
    reason_in=reason_in,
)

"""The parameters of `hook.handle`: an event as an extension of protocol 1 is shown it.

Fields that do not apply are null, never left out. What an agent does not tell is null as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from watchgate.core.events import Event, SessionChange, Text, ToolResult
from watchgate.core.extensions.kinds import HOOK_OF, HookName

OUTPUT_LIMIT_BYTES: Final = 256 * 1024


class HookParams(msgspec.Struct, frozen=True, kw_only=True):
    """One event on the wire (SynapsCLI, `HookEvent`)."""

    kind: HookName
    tool_name: str | None = None
    tool_runtime_name: str | None = None
    tool_input: dict[str, Any] | None = None
    tool_output: str | None = None
    message: str | None = None
    session_id: str | None = None
    transcript: list[Any] | None = None
    data: dict[str, Any] | None = None


def hook_params(event: Event) -> HookParams | None:
    """Builds the parameters for an event; None for a kind that the protocol has no hook for.

    `tool_name` is the name that the model calls, `tool_runtime_name` what people call the tool.
    """
    name = HOOK_OF.get(event.kind)
    return None if name is None else _FIELDS[name](name, event)


def cut_output(text: str) -> str:
    """Returns a tool's output, cut at a character and marked with its size when it is too large."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= OUTPUT_LIMIT_BYTES:
        return text
    beginning = raw[:OUTPUT_LIMIT_BYTES].decode("utf-8", "ignore")
    return f"{beginning}... [cut, {len(raw)} bytes in total]"


def _call(name: HookName, event: Event) -> HookParams:
    tool = event.tool
    return HookParams(
        kind=name,
        tool_name=tool.native_name if tool else None,
        tool_runtime_name=tool.name if tool else None,
        tool_input=tool.input if tool else None,
    )


def _result(name: HookName, event: Event) -> HookParams:
    body = event.body
    output = cut_output(body.text) if isinstance(body, ToolResult) else None
    return msgspec.structs.replace(_call(name, event), tool_output=output)


def _prompt(name: HookName, event: Event) -> HookParams:
    return HookParams(kind=name, message=_message(event))


def _complete_message(name: HookName, event: Event) -> HookParams:
    unknown = {"content_block_count": None, "has_tool_use": None}
    return HookParams(kind=name, message=_message(event), data=unknown)


def _compaction(name: HookName, event: Event) -> HookParams:
    body = event.body
    return HookParams(
        kind=name,
        message=_message(event),
        session_id=event.session,
        data={
            "old_session_id": event.session,
            "new_session_id": event.session,
            "message_count": None,
            "source": body.what or None if isinstance(body, SessionChange) else None,
        },
    )


def _session(name: HookName, event: Event) -> HookParams:
    return HookParams(kind=name, session_id=event.session)


def _message(event: Event) -> str | None:
    body = event.body
    if isinstance(body, Text):
        return body.text
    return body.detail or None if isinstance(body, SessionChange) else None


_FIELDS: Final[dict[HookName, Callable[[HookName, Event], HookParams]]] = {
    "before_tool_call": _call,
    "after_tool_call": _result,
    "before_message": _prompt,
    "on_message_complete": _complete_message,
    "on_compaction": _compaction,
    "on_session_start": _session,
    "on_session_end": _session,
}

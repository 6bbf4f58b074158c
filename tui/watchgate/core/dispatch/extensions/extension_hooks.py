"""The parameters of `hook.handle`: an event as an extension of protocol 1 is shown it.

Fields that do not apply are null, never left out. What an agent does not tell is null as well.

- The hooks of SynapsCLI's extension protocol 1, and the canonical events that they stand for.
  Permissions and allowed results are not repeated here: the permissions of `handlers` and the
  preset `synaps-chain` have them.
- The meaning of an extension's answer to `hook.handle`. A denial is one whatever else is wrong with
  it, and a rewrite without an input is told apart from one with an empty input. Every other answer
  that cannot be read is a failure, and the handler's failure policy says what that amounts to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, get_args

import msgspec

from watchgate.core.dispatch.handlers import WITH_TOOL
from watchgate.core.model.events import Event, SessionChange, Text, ToolResult
from watchgate.core.model.verdicts import Allow, Block, Confirm, Failed, Inject, Modify, Verdict

HookName = Literal[
    "before_tool_call",
    "after_tool_call",
    "before_message",
    "on_message_complete",
    "on_compaction",
    "on_session_start",
    "on_session_end",
]
HOOK_NAMES: Final[tuple[HookName, ...]] = get_args(HookName)


class ExtensionHook(msgspec.Struct, frozen=True):
    """One hook: its canonical events, and whether an answer can change anything there.

    Where it cannot, nobody waits for the extension: its handler is an observer.
    """

    name: HookName
    on: frozenset[str]
    steers: bool = False

    @property
    def about_tools(self) -> bool:
        """Returns whether its events have a tool that a filter could name."""
        return self.on <= WITH_TOOL


HOOKS: Final[dict[str, ExtensionHook]] = {
    hook.name: hook
    for hook in (
        ExtensionHook("before_tool_call", frozenset({"tool.pre"}), steers=True),
        ExtensionHook("after_tool_call", frozenset({"tool.post", "tool.error"})),
        ExtensionHook("before_message", frozenset({"prompt.submit"}), steers=True),
        ExtensionHook("on_message_complete", frozenset({"message"})),
        ExtensionHook("on_compaction", frozenset({"compact.post"})),
        ExtensionHook("on_session_start", frozenset({"session.start"})),
        ExtensionHook("on_session_end", frozenset({"session.end"})),
    )
}
HOOK_OF: Final[dict[str, HookName]] = {kind: h.name for h in HOOKS.values() for kind in h.on}


TEXT_CAP: Final = 8_192
"""Characters of one text that an extension may hand on, its mark included."""

_MEND = "mend the extension"


def read_verdict(result: Any, extension_id: str) -> Verdict:
    """Reads the verdict in the `result` of an answer."""
    if not isinstance(result, Mapping):
        return Failed("parse", f"{extension_id} answered no object; {_MEND}")
    action = result.get("action")
    reading = _ACTIONS.get(action) if isinstance(action, str) else None
    if reading is None:
        return Failed("parse", f"{extension_id} answered no known action; {_MEND}")
    return reading(result, extension_id)


def _continue(_result: Mapping[str, Any], _id: str) -> Verdict:
    return Allow()


def _block(result: Mapping[str, Any], id: str) -> Verdict:
    return Block(_text(result, "reason") or f"Blocked by {id}; no reason was given.")


def _confirm(result: Mapping[str, Any], id: str) -> Verdict:
    return Confirm(_text(result, "message") or f"{id} wants this confirmed and does not say why.")


def _modify(result: Mapping[str, Any], id: str) -> Verdict:
    changed = result.get("input")
    if changed is None:
        return Modify(None)
    if not isinstance(changed, dict):
        return Failed("malformed", f"{id} rewrote the input to something that is no object")
    return Modify(changed, f"rewritten by {id}")


def _inject(result: Mapping[str, Any], id: str) -> Verdict:
    text = _text(result, "content")
    return Inject(text) if text else Failed("parse", f"{id} injected no text; {_MEND}")


def _text(result: Mapping[str, Any], key: str) -> str:
    text = result.get(key)
    if not isinstance(text, str) or not text.strip():
        return ""
    if len(text) <= TEXT_CAP:
        return text
    mark = f"... [cut, {len(text)} characters in total]"
    return text[: TEXT_CAP - len(mark)] + mark


_ACTIONS: Final[dict[str, Callable[[Mapping[str, Any], str], Verdict]]] = {
    "continue": _continue,
    "block": _block,
    "confirm": _confirm,
    "modify": _modify,
    "inject": _inject,
}


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

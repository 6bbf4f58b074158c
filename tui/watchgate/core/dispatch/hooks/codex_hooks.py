"""The hook protocol of upstream codex: its events on stdin, and its exit codes.

Source of the wire format: the hook schemas of openai/codex, codex-rs/hooks. Exit 2 counts only with
a reason on stderr; after the fact that reason is for the model and prevents nothing.

- Upstream codex: the shapes that its hooks may print. Source of the wire format: the output schemas
  of openai/codex, codex-rs/hooks. A key that a schema does not name makes the whole answer invalid.
- Answers of upstream codex' hooks, read as strictly as codex reads them. Reserved fields fail
  closed (`malformed`), what codex does not support fails as it does there (`protocol`). Two things
  are ours: `ask` before a tool call, a failure in codex, asks the operator, and words that come
  after the fact go to the model and deny nothing.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from watchgate.core.base import decoding
from watchgate.core.dispatch.hooks.hook_exchange import ExitMap, HookInput, HookProtocol
from watchgate.core.dispatch.hooks.hook_texts import (
    event_text,
    json_answer,
    model_name,
    model_text,
    output_text,
    text_field,
    transcript_path,
)
from watchgate.core.dispatch.hooks.rewrites import AMBIGUOUS, ARGV, as_native, has_argv, presented
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    Inject,
    Modify,
    Report,
    Verdict,
)

EventName = Literal[
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "SubagentStart",
    "SubagentStop",
]


class _CodexAnswer(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    pass


class PermissionDecision(_CodexAnswer, frozen=True):
    """`decision` of a PermissionRequest answer; the last three are reserved."""

    behavior: Literal["allow", "deny"]
    message: str | None = None
    updated_input: Any = None
    updated_permissions: Any = None
    interrupt: bool = False


class PermissionOutput(_CodexAnswer, frozen=True):
    """`hookSpecificOutput` of a PermissionRequest answer."""

    hook_event_name: EventName
    decision: PermissionDecision | None = None


class ToolOutput(_CodexAnswer, frozen=True):
    """`hookSpecificOutput` of a PreToolUse answer."""

    hook_event_name: EventName
    permission_decision: Literal["allow", "deny", "ask"] | None = None
    permission_decision_reason: str | None = None
    updated_input: Any = None
    additional_context: str | None = None


class ContextOutput(_CodexAnswer, frozen=True):
    """`hookSpecificOutput` of the other answers."""

    hook_event_name: EventName
    additional_context: str | None = None
    updated_tool_output: Any = None
    updated_mcp_tool_output: Any = msgspec.field(name="updatedMCPToolOutput", default=None)


class CommonAnswer(_CodexAnswer, frozen=True):
    """The fields of every answer."""

    continue_: bool = msgspec.field(name="continue", default=True)
    stop_reason: str | None = None
    suppress_output: bool = False
    system_message: str | None = None


class PermissionAnswer(CommonAnswer, frozen=True):
    """The answer of a PermissionRequest hook."""

    hook_specific_output: PermissionOutput | None = None


class ToolAnswer(CommonAnswer, frozen=True):
    """The answer of a PreToolUse hook; `decision` and `reason` are its older form."""

    decision: Literal["approve", "block"] | None = None
    reason: str | None = None
    hook_specific_output: ToolOutput | None = None


class OtherAnswer(CommonAnswer, frozen=True):
    """The answer of the hooks of all other events."""

    decision: Literal["block"] | None = None
    reason: str | None = None
    hook_specific_output: ContextOutput | None = None


NO_DENIAL_REASON: Final = "PermissionRequest hook denied approval"
NO_STOP_REASON: Final = "A hook ended the turn and did not say why"
NO_QUESTION: Final = "A hook wants an operator to decide and did not say why"


def read(stdout: str, event: Event) -> Report:
    """Reads the answer; text that does not look like JSON is none and no failure."""
    if not stdout.lstrip().startswith(("{", "[")):
        return Report(verdict=Defer())
    fields = json_answer(stdout)
    if isinstance(fields, Failed):
        return Report(verdict=fields)
    try:
        if event.kind == "tool.permission":
            return _permission(decoding.convert(fields, PermissionAnswer))
        if event.kind == "tool.pre":
            return _before_tool(decoding.convert(fields, ToolAnswer), event)
        return _other(decoding.convert(fields, OtherAnswer), event)
    except (msgspec.ValidationError, RecursionError) as error:
        fault = f"its stdout is not what codex takes for this event: {output_text(str(error))}"
        return Report(verdict=Failed("parse", fault))


def _permission(given: PermissionAnswer) -> Report:
    fault = _unsupported(given)
    decision = given.hook_specific_output.decision if given.hook_specific_output else None
    reserved = _reserved(decision) if decision else ""
    if fault or reserved:
        return Report(verdict=Failed("malformed", reserved or fault))
    if decision is None:
        return Report(verdict=Defer(_note(given)))
    if decision.behavior == "deny":
        return Report(verdict=Block(text_field(decision.message) or NO_DENIAL_REASON))
    return Report(verdict=Allow(text_field(decision.message)))


def _reserved(decision: PermissionDecision) -> str:
    fields = {
        "updatedInput": decision.updated_input is not None,
        "updatedPermissions": decision.updated_permissions is not None,
        "interrupt": decision.interrupt,
    }
    used = [name for name, is_used in fields.items() if is_used]
    return f"{used[0]} of a PermissionRequest answer is reserved; leave it out" if used else ""


def _before_tool(given: ToolAnswer, event: Event) -> Report:
    fault = _unsupported(given)
    if fault:
        return Report(verdict=Failed("protocol", fault))
    output = given.hook_specific_output or ToolOutput(hook_event_name="PreToolUse")
    text = model_text(output.additional_context)
    if given.decision == "block" or output.permission_decision == "deny":
        reason = text_field(output.permission_decision_reason) or text_field(given.reason)
        if not reason:
            return Report(verdict=Failed("protocol", "a denial needs a reason that is not empty"))
        return Report(verdict=Block(reason), text=text)
    return Report(verdict=_without_denial(given, output, event), text=text)


def _without_denial(given: ToolAnswer, output: ToolOutput, event: Event) -> Verdict:
    reason = text_field(output.permission_decision_reason)
    if output.permission_decision == "ask":
        return Confirm(reason or NO_QUESTION)
    if output.updated_input is not None:
        if output.permission_decision != "allow":
            return Failed("protocol", "updatedInput needs permissionDecision allow")
        return _rewrite(output.updated_input, reason, event)
    if output.permission_decision == "allow" or given.decision == "approve":
        return Failed("protocol", "an allow before a tool call is supported with updatedInput only")
    if reason or given.reason:
        return Failed("protocol", "there is a reason without a decision")
    return Defer(_note(given))


def _rewrite(new: object, reason: str, event: Event) -> Verdict:
    if not isinstance(new, dict):
        return Failed("malformed", "updatedInput must be an object")
    if has_argv(event.tool):
        return Block(ARGV)
    native = as_native(event, new)
    return Block(AMBIGUOUS) if native is None else Modify(native, reason)


def _other(given: OtherAnswer, event: Event) -> Report:
    output = given.hook_specific_output
    text = model_text(output.additional_context) if output else ""
    if not given.continue_:
        return Report(verdict=Abort(text_field(given.stop_reason) or NO_STOP_REASON), text=text)
    if given.decision == "block":
        reason = text_field(given.reason)
        if not reason:
            return Report(verdict=Failed("protocol", "a block needs a reason that is not empty"))
        stops = event.kind == "prompt.submit"
        return Report(verdict=Block(reason) if stops else Inject(reason), text=text)
    if text:
        return Report(verdict=Inject(text))
    return Report(verdict=Defer(_note(given)))


def _unsupported(given: CommonAnswer) -> str:
    if not given.continue_:
        return "continue: false is not supported for this event; deny the call instead"
    if given.stop_reason is not None:
        return "stopReason is not supported for this event; deny the call with a reason instead"
    return "suppressOutput is not supported for this event" if given.suppress_output else ""


def _note(given: CommonAnswer) -> str:
    return text_field(given.system_message)


EVENTS: Final = {
    "tool.pre": "PreToolUse",
    "tool.permission": "PermissionRequest",
    "tool.post": "PostToolUse",
    "tool.error": "PostToolUse",
    "compact.pre": "PreCompact",
    "compact.post": "PostCompact",
    "session.start": "SessionStart",
    "prompt.submit": "UserPromptSubmit",
    "turn.end": "Stop",
    "agent.start": "SubagentStart",
    "agent.stop": "SubagentStop",
}
MODES: Final = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")


def ask(event: Event, _handler_id: str) -> HookInput:
    """Builds one flat object: the fields that every event has, and the event's own."""
    name = EVENTS.get(event.kind, event.native)
    payload = {
        "session_id": event.session,
        "turn_id": event.turn or "",
        "transcript_path": transcript_path(event),
        "cwd": event.cwd,
        "hook_event_name": name,
        "model": model_name(event) or "",
        "permission_mode": event.mode if event.mode in MODES else MODES[0],
        **_fields(name, event),
    }
    if event.sub is not None:
        payload |= {"agent_id": event.sub.id, "agent_type": event.sub.type}
    return HookInput(msgspec.json.encode(payload), {})


def _fields(name: str, event: Event) -> dict[str, Any]:
    match name:
        case "PreToolUse" | "PermissionRequest" | "PostToolUse":
            return _tool_fields(name, event)
        case "SessionStart":
            return {"source": event_text(event)}
        case "UserPromptSubmit":
            return {"prompt": event_text(event)}
        case "PreCompact" | "PostCompact":
            return {"trigger": event_text(event)}
        case "Stop" | "SubagentStop":
            return {"stop_hook_active": False, "last_assistant_message": event_text(event) or None}
        case _:
            return {}


def _tool_fields(name: str, event: Event) -> dict[str, Any]:
    tool, shown = presented(event)
    fields: dict[str, Any] = {"tool_name": tool, "tool_input": shown}
    if event.tool is not None and event.tool.call_id is not None:
        fields["tool_use_id"] = event.tool.call_id
    if name == "PostToolUse":
        fields["tool_response"] = event_text(event)
    return fields


_BLOCKS: Final[ExitMap] = {0: "parse", 2: "block", "other": "fail"}
_FEEDS_BACK: Final[ExitMap] = {0: "parse", 2: "inject", "other": "fail"}

CODEX: Final = HookProtocol(
    name="codex",
    ask=ask,
    read=read,
    events=EVENTS,
    exits={0: "parse", "other": "fail"},
    exits_at={
        **dict.fromkeys(("tool.pre", "tool.permission", "prompt.submit"), _BLOCKS),
        **dict.fromkeys(("tool.post", "tool.error", "turn.end", "agent.stop"), _FEEDS_BACK),
    },
    timeout_s=600.0,
    timeout_floor_s=1.0,
)

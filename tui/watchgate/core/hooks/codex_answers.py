"""Answers of upstream codex' hooks, read as strictly as codex reads them.

Reserved fields fail closed (`malformed`), what codex does not support fails as it does there
(`protocol`). Two things are ours: `ask` before a tool call, a failure in codex, asks the operator,
and words that come after the fact go to the model and deny nothing.
"""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.core import decoding
from watchgate.core.events import Event
from watchgate.core.hooks.codex_schema import (
    Decision,
    OtherAnswer,
    PermissionAnswer,
    ToolAnswer,
    ToolOutput,
    Universal,
)
from watchgate.core.hooks.exec_tool import as_native, has_argv
from watchgate.core.hooks.rewrites import AMBIGUOUS, ARGV
from watchgate.core.hooks.texts import answer, for_the_model, said, word
from watchgate.core.verdicts import (
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

NO_DENIAL_REASON: Final = "PermissionRequest hook denied approval"
NO_STOP_REASON: Final = "A hook ended the turn and did not say why"
NO_QUESTION: Final = "A hook wants an operator to decide and did not say why"


def read(stdout: str, event: Event) -> Report:
    """Reads the answer; text that does not look like JSON is none and no failure."""
    if not stdout.lstrip().startswith(("{", "[")):
        return Report(verdict=Defer())
    fields = answer(stdout)
    if isinstance(fields, Failed):
        return Report(verdict=fields)
    try:
        if event.kind == "tool.permission":
            return _permission(decoding.convert(fields, PermissionAnswer))
        if event.kind == "tool.pre":
            return _before_tool(decoding.convert(fields, ToolAnswer), event)
        return _other(decoding.convert(fields, OtherAnswer), event)
    except (msgspec.ValidationError, RecursionError) as error:
        fault = f"its stdout is not what codex takes for this event: {said(str(error))}"
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
        return Report(verdict=Block(word(decision.message) or NO_DENIAL_REASON))
    return Report(verdict=Allow(word(decision.message)))


def _reserved(decision: Decision) -> str:
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
    text = for_the_model(output.additional_context)
    if given.decision == "block" or output.permission_decision == "deny":
        reason = word(output.permission_decision_reason) or word(given.reason)
        if not reason:
            return Report(verdict=Failed("protocol", "a denial needs a reason that is not empty"))
        return Report(verdict=Block(reason), text=text)
    return Report(verdict=_without_denial(given, output, event), text=text)


def _without_denial(given: ToolAnswer, output: ToolOutput, event: Event) -> Verdict:
    reason = word(output.permission_decision_reason)
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
    text = for_the_model(output.additional_context) if output else ""
    if not given.continue_:
        return Report(verdict=Abort(word(given.stop_reason) or NO_STOP_REASON), text=text)
    if given.decision == "block":
        reason = word(given.reason)
        if not reason:
            return Report(verdict=Failed("protocol", "a block needs a reason that is not empty"))
        stops = event.kind == "prompt.submit"
        return Report(verdict=Block(reason) if stops else Inject(reason), text=text)
    if text:
        return Report(verdict=Inject(text))
    return Report(verdict=Defer(_note(given)))


def _unsupported(given: Universal) -> str:
    if not given.continue_:
        return "continue: false is not supported for this event; deny the call instead"
    if given.stop_reason is not None:
        return "stopReason is not supported for this event; deny the call with a reason instead"
    return "suppressOutput is not supported for this event" if given.suppress_output else ""


def _note(given: Universal) -> str:
    return word(given.system_message)

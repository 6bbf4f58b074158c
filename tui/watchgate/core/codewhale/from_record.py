"""Our records as CodeWhale's events, for programs that already read those.

One record becomes the events that CodeWhale sends where the same happens, in its order. Nothing is
said that no record says: a call that was let through is not yet `dispatching`, and a question that
was withdrawn or answered elsewhere is neither `approved` nor `denied`, its phase is our own word.
Wherever the format leaves room an event carries `session`, `agent`, `core` and `seq`, which
CodeWhale's own lack; `core` and `seq` together name one record. What CodeWhale has no name for is a
`generic_event_frame` whose `event` is the record's kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET

from watchgate.core import codewhale
from watchgate.core.codewhale import HookEvent, codewhale_frames
from watchgate.core.model.records import Record

_DECISIONS = {"allow": "approved", "deny": "denied"}
_PATCHES = "edit"


def hook_events(record: Record) -> tuple[HookEvent, ...]:
    """Returns the events that CodeWhale would have sent for this record; at least one."""
    return _MAPPED.get(record.kind, _other)(record)


def _called(record: Record) -> tuple[HookEvent, ...]:
    data = record.data
    gate = data.get("gate")
    if gate == "joined":
        return _other(record)
    tool, reason = _tool(record), str(data.get("reason", ""))
    payload = {
        "call_id": record.call,
        "execution_kind": tool.get("cls", "other"),
        "command": _command(record),
        "cwd": data.get("cwd", ""),
        "allow": gate != "denied",
        "requires_approval": gate == "held",
        "matched_rule": data.get("rule") or None,
        "reason": reason,
        "gate": gate,
        "risk": data.get("risk", "unknown"),
    }
    precheck = _lifecycle(record, "precheck", payload)
    if gate == "held":
        return (precheck,)
    if gate == "denied":
        denied = codewhale.ApprovalLifecycle(
            _approval(record), "denied", reason or data.get("word")
        )
        return precheck, denied, _frame(record, codewhale_frames.Error(_response(record), reason))
    arguments = {"type": tool.get("cls", "other"), "params": tool.get("input", {})}
    start = codewhale_frames.ToolCallStart(_response(record), _name(record), arguments)
    return precheck, _frame(record, start)


def _ended(record: Record) -> tuple[HookEvent, ...]:
    data, response = record.data, _response(record)
    text = data.get("result", "")
    if data.get("ok", record.kind == "tool.post"):
        output = {"type": "function", "body": text, "success": True}
        result = codewhale_frames.ToolCallResult(response, _name(record), output)
        return _frame(record, result), _lifecycle(record, "completed", {"ok": True})
    failed = _lifecycle(record, "failed", {"ok": False, "error": text})
    return _frame(record, codewhale_frames.Error(response, text)), failed


def _requested(record: Record) -> tuple[HookEvent, ...]:
    data = record.data
    decisions = [{"type": _DECISIONS[one]} for one in data.get("offered", ()) if one in _DECISIONS]
    if "session" in data.get("scopes", ()):
        decisions.append({"type": "approved_for_session"})
    asked = codewhale_frames.ApprovalQuestion(
        call_id=_response(record),
        approval_id=_approval(record),
        turn_id=_response(record),
        command=_command(record),
        cwd=data.get("cwd", ""),
        reason=data.get("reason", ""),
        matched_rule=data.get("rule") or UNSET,
        available_decisions=decisions,
    )
    patches = _tool(record).get("cls") == _PATCHES
    kind = (
        codewhale_frames.ApplyPatchApprovalRequest
        if patches
        else codewhale_frames.ExecApprovalRequest
    )
    lifecycle = codewhale.ApprovalLifecycle(_approval(record), "requested", data.get("reason"))
    return lifecycle, _frame(record, kind(asked))


def _decided(record: Record) -> tuple[HookEvent, ...]:
    word = str(record.data.get("word", ""))
    phase = word
    if word.startswith("allowed-"):
        phase = "approved"
    elif word.startswith("denied-"):
        phase = "denied"
    reason = record.data.get("reason") or word
    return (codewhale.ApprovalLifecycle(_approval(record), phase, reason),)


def _waiting(record: Record) -> tuple[HookEvent, ...]:
    return (codewhale.ApprovalLifecycle(_approval(record), record.kind.partition(".")[2]),)


def _message(record: Record) -> tuple[HookEvent, ...]:
    response = f"{record.core}-{record.seq}"
    return (
        codewhale.ResponseStartEvent(response),
        codewhale.ResponseDeltaEvent(response, str(record.data.get("text", ""))),
        codewhale.ResponseEndEvent(response),
    )


def _turn(
    make: Callable[[str], codewhale_frames.Frame],
) -> Callable[[Record], tuple[HookEvent, ...]]:
    # A record has no id of its turn; a session has one turn at a time.
    return lambda record: (_frame(record, make(record.session or "")),)


def _broken_off(record: Record) -> tuple[HookEvent, ...]:
    return (_frame(record, codewhale_frames.TurnAborted(record.session or "", _words(record))),)


def _failed(record: Record) -> tuple[HookEvent, ...]:
    return (_frame(record, codewhale_frames.Error(record.session or "", _words(record))),)


def _other(record: Record) -> tuple[HookEvent, ...]:
    more = {"call": record.call, "request": record.request, "data": record.data}
    return (codewhale.GenericEventFrame({"event": record.kind, **_identity(record), **more}),)


def _lifecycle(record: Record, phase: str, payload: dict[str, Any]) -> codewhale.ToolLifecycle:
    payload = {**payload, **_identity(record)}
    return codewhale.ToolLifecycle(_response(record), _name(record), phase, payload)


def _frame(record: Record, frame: codewhale_frames.Frame) -> codewhale.GenericEventFrame:
    return codewhale.GenericEventFrame({**msgspec.to_builtins(frame), **_identity(record)})


def _identity(record: Record) -> dict[str, Any]:
    return {
        "session": record.session,
        "agent": record.agent,
        "core": record.core,
        "seq": record.seq,
    }


def _tool(record: Record) -> dict[str, Any]:
    tool = record.data.get("tool")
    return tool if isinstance(tool, dict) else {}


def _name(record: Record) -> str:
    return str(_tool(record).get("name", ""))


def _command(record: Record) -> str:
    given = _tool(record).get("input")
    command = given.get("command") if isinstance(given, dict) else None
    return command if isinstance(command, str) else str(record.data.get("summary", ""))


def _words(record: Record) -> str:
    return str(record.data.get("text") or record.data.get("detail") or "")


def _response(record: Record) -> str:
    return record.call or f"{record.core}-{record.seq}"


def _approval(record: Record) -> str:
    return record.request or _response(record)


_MAPPED: dict[str, Callable[[Record], tuple[HookEvent, ...]]] = {
    "tool.pre": _called,
    "tool.permission": _called,
    "tool.post": _ended,
    "tool.error": _ended,
    "approval.requested": _requested,
    "approval.decided": _decided,
    "approval.extended": _waiting,
    "approval.timeout": _waiting,
    "message": _message,
    "prompt.submit": _turn(codewhale_frames.TurnStarted),
    "turn.end": _turn(codewhale_frames.TurnComplete),
    "turn.interrupt": _broken_off,
    "turn.error": _failed,
}

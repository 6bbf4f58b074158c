"""CodeWhale's event sinks: `{"at", "event"}`, one line for each event, often one connection too.

They name no session and number nothing, and they cannot be answered. A phase may be any word: the
documented ones differ from those that are sent. Structs: `core.codewhale`.

- Tools are known by CodeWhale's names, and by what its events say of one call.
- Frames come inside CodeWhale's `generic_event_frame`. A tool call is told twice, by lifecycle
  events and by frames with the same response id: the first one that tells of its begin or its end
  is taken for it, the other is noted beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from watchgate.agents.streams.line_events import (
    Fields,
    LineEvents,
    folder,
    rest,
    table,
    tool_of,
    word,
)
from watchgate.agents.streams.stream_source import Source
from watchgate.agents.table.payload_values import input_of
from watchgate.core import codewhale
from watchgate.core.base import decoding
from watchgate.core.base.clock import Instant
from watchgate.core.codewhale import codewhale_frames
from watchgate.core.model.events import Event, Text, Tool, ToolClass

CLASSES: Final[dict[str, ToolClass]] = {
    "exec_shell": "shell",
    "shell": "shell",
    "bash": "shell",
    "Bash": "shell",
    "Run": "shell",
    "read": "read",
    "read_file": "read",
    "list_dir": "read",
    "grep_files": "read",
    "file_search": "read",
    # It reads and writes; what writes is the graver of the two.
    "File": "edit",
    "write": "edit",
    "edit": "edit",
    "write_file": "edit",
    "edit_file": "edit",
    "apply_patch": "edit",
    "fetch_url": "fetch",
    "web_search": "fetch",
    "update_plan": "plan",
    "request_user_input": "question",
}

# What the policy of CodeWhale adds to a call before it runs; the rest is the call's own.
_ABOUT = frozenset(
    """allow call_id cwd execution_kind matched_rule phase reason requirement
    requires_approval""".split()
)


_SHELL_KINDS = frozenset(("shell", "local_shell"))


def codewhale_tool(name: str, args: dict[str, Any], call_id: str, kind: object = None) -> Tool:
    """Returns the canonical tool of a call; `kind` is what CodeWhale says that carries it out."""
    classes = CLASSES
    if kind in _SHELL_KINDS and name not in CLASSES:
        classes = {name: "shell"}
    return tool_of(name, args, call_id or None, classes)


def tells_arguments(name: str, payload: Fields) -> bool:
    """Returns whether a `tool_lifecycle` payload has the call's arguments.

    That of a function tool has the tool's own name as its command; its arguments come later.
    """
    return payload.get("command") != name and bool(_own(payload))


def tool_of_payload(name: str, payload: Fields, call_id: str) -> Tool:
    """Returns the tool of a `tool_lifecycle` payload.

    Without arguments it never counts as a tool that only reads: what it would read, nobody knows.

    What a read of nothing named would be said to read, nobody knows.
    """
    if tells_arguments(name, payload):
        return codewhale_tool(name, _own(payload), call_id, payload.get("execution_kind"))
    classes: dict[str, ToolClass] = {name: "other"} if CLASSES.get(name) == "read" else CLASSES
    return tool_of(name, {}, call_id or None, classes)


def tool_of_arguments(name: str, arguments: Any, call_id: str) -> Tool:
    """Returns the tool of a `tool_call_start` frame.

    The arguments lie in `params`, or as JSON in a text under `arguments`; what is neither is kept
    as it is.
    """
    given: dict[str, Any] = arguments if isinstance(arguments, dict) else {"arguments": arguments}
    inner = given.get("arguments")
    args = input_of(inner) if isinstance(inner, str | dict) else {}
    return codewhale_tool(name, table(given, "params") or args or given, call_id, given.get("type"))


def _own(payload: Fields) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if key not in _ABOUT}


def read_frame(line: LineEvents, frame: Any) -> None:
    """Adds the events of one frame; one that is not known is shown as it is."""
    known = codewhale_frames.known_frame(frame)
    fields: Fields = frame if isinstance(frame, dict) else {"frame": frame}
    native = word(fields, "event") or "generic_event_frame"
    step = _STEPS.get(type(known))
    if known is None or step is None:
        kind: Any = _KINDS.get(type(known), "notice")
        line.add_text(kind, native, rest(fields, ("event",)))
    else:
        step(line, native, known)


def _delta(line: LineEvents, native: str, frame: codewhale_frames.ResponseDelta) -> None:
    channel = frame.channel
    # Text is what a channel that is left out means.
    apart = "" if channel is msgspec.UNSET or channel == "text" else f"/{channel}"
    line.add("message", native + apart, Text(frame.delta))


def _call_starts(line: LineEvents, native: str, frame: codewhale_frames.ToolCallStart) -> None:
    call = line.session.calls.get(frame.response_id)
    tool = tool_of_arguments(frame.tool_name, frame.arguments, frame.response_id)
    if call is None:
        line.begin_call(native, tool, ran=True)
    else:
        call.ran = True
        line.begin_announced(call, tool)
        line.add_text("notice", native, tool.name)


def _call_gives(line: LineEvents, native: str, frame: codewhale_frames.ToolCallResult) -> None:
    output: Fields = frame.output if isinstance(frame.output, dict) else {"body": frame.output}
    tool = codewhale_tool(frame.tool_name, {}, frame.response_id)
    line.end_call(native, tool, ok=output.get("success") is not False, output=output.get("body"))


def _error(line: LineEvents, native: str, frame: codewhale_frames.Error) -> None:
    """Adds a failure: of a call that ran, of one that was refused before, or of something else."""
    call = line.session.calls.get(frame.response_id)
    if call is None:
        line.add_text("notice", native, frame.message)
    elif call.ran:
        line.end_call(native, call.tool, ok=False, output=frame.message)
    else:
        line.refuse_call(f"{native}/not-run", call.tool)


def _asks(
    line: LineEvents,
    native: str,
    frame: codewhale_frames.ExecApprovalRequest | codewhale_frames.ApplyPatchApprovalRequest,
) -> None:
    """Adds a permission question: `turn_id` is no turn's here, so its command finds the call."""
    request = frame.request
    patch = isinstance(frame, codewhale_frames.ApplyPatchApprovalRequest)
    args = {"description": request.command} if patch else {"command": request.command}
    tool = line.find_open_call(request.command) or codewhale_tool(
        "apply_patch" if patch else "exec_shell", args, request.call_id
    )
    cwd = folder({"cwd": request.cwd}, "cwd")
    line.ask_permission(native, request.approval_id, tool, cwd=cwd)


def _questions(line: LineEvents, native: str, frame: codewhale_frames.UserInputRequest) -> None:
    asked = frame.request.get("questions")
    texts = [word(one, "question") for one in asked if isinstance(one, dict)] if asked else []
    line.add_text("question", native, "\n".join(texts) or rest(frame.request))


def _elicits(line: LineEvents, native: str, frame: codewhale_frames.ElicitationRequest) -> None:
    line.add_text("question", native, f"{frame.server_name}: {frame.prompt}")


def _turn_starts(line: LineEvents, native: str, frame: codewhale_frames.TurnStarted) -> None:
    line.session.turn = frame.turn_id
    line.add_text("model.request", native)


def _turn_ends(line: LineEvents, native: str, _frame: codewhale_frames.TurnComplete) -> None:
    line.add_text("turn.end", native)
    line.session.end_turn()


def _turn_aborted(line: LineEvents, native: str, frame: codewhale_frames.TurnAborted) -> None:
    line.add_text("turn.interrupt", native, frame.reason)
    line.session.end_turn()


_KINDS: Final[dict[Any, str]] = {
    codewhale_frames.ResponseStart: "model.request",
    codewhale_frames.ResponseEnd: "model.response",
}
_STEPS: Final[dict[Any, Callable[[LineEvents, str, Any], None]]] = {
    codewhale_frames.ResponseDelta: _delta,
    codewhale_frames.ToolCallStart: _call_starts,
    codewhale_frames.ToolCallResult: _call_gives,
    codewhale_frames.Error: _error,
    codewhale_frames.ExecApprovalRequest: _asks,
    codewhale_frames.ApplyPatchApprovalRequest: _asks,
    codewhale_frames.UserInputRequest: _questions,
    codewhale_frames.ElicitationRequest: _elicits,
    codewhale_frames.TurnStarted: _turn_starts,
    codewhale_frames.TurnComplete: _turn_ends,
    codewhale_frames.TurnAborted: _turn_aborted,
}


AGENT: Final = "codewhale"


def fits(fields: Fields) -> bool:
    """Returns whether a line is such an envelope."""
    return bool(word(fields, "at") and word(table(fields, "event"), "type"))


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """Returns the events of one line."""
    sent_us = codewhale.read_stamp(word(fields, "at"))
    line = LineEvents(source, at, agent=AGENT, session=source.session, sent_us=sent_us)
    given = table(fields, "event")
    try:
        event: codewhale.HookEvent = decoding.convert(given, codewhale.HookEvent)
    except msgspec.ValidationError:
        line.add_text("notice", word(given, "type") or "event", rest(given, ("type",)))
        return line.events
    _add_event(line, event)
    return line.events


def _add_event(line: LineEvents, event: codewhale.HookEvent) -> None:
    match event:
        case codewhale.ToolLifecycle():
            _tool(line, event)
        case codewhale.GenericEventFrame(frame=frame):
            read_frame(line, frame)
        case codewhale.ResponseStartEvent():
            line.add_text("model.request", "response_start")
        case codewhale.ResponseDeltaEvent(delta=delta):
            line.add("message", "response_delta", Text(delta))
        case codewhale.ResponseEndEvent():
            line.add_text("model.response", "response_end")
        case codewhale.JobLifecycle(job_id=job, phase=phase, progress=progress, detail=detail):
            percent = "" if progress is None else f" {progress:g}%"
            notice = f"{job} {phase}{percent}" + (f": {detail}" if detail else "")
            line.add_text("notice", f"job_lifecycle/{phase}", notice)
        case codewhale.ApprovalLifecycle(phase=phase, reason=reason):
            line.add_text("notice", f"approval_lifecycle/{phase}", reason or "")
        case codewhale.SerializationError():
            line.add_text(
                "notice", "serialization_error", "CodeWhale could not write an event down"
            )


def _tool(line: LineEvents, event: codewhale.ToolLifecycle) -> None:
    native = f"tool_lifecycle/{event.phase}"
    payload: Fields = event.payload if isinstance(event.payload, dict) else {}
    tool = tool_of_payload(event.tool_name, payload, event.response_id)
    known = line.session.calls.get(event.response_id)
    match event.phase:
        case "precheck":
            begins = (
                line.begin_call if tells_arguments(event.tool_name, payload) else line.announce_call
            )
            begins(native, tool, cwd=folder(payload, "cwd"))
        case "completed" | "failed" if known is not None:
            ok = event.phase == "completed" and payload.get("ok") is not False
            line.end_call(native, known.tool, ok=ok, output=word(payload, "error") or rest(payload))
        case _:
            if known is not None and event.phase == "dispatching":
                line.begin_announced(known)
                known.ran = True
            line.add_text("notice", native, f"{event.tool_name} {rest(payload)}".rstrip())

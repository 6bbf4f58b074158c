"""Frames come inside CodeWhale's `generic_event_frame`.

A tool call is told twice, by lifecycle events and by frames with the same response id: the first
one that tells of its begin or its end is taken for it, the other is noted beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from watchgate.agents.streams import codewhale_tools as tools
from watchgate.agents.streams.fields import Fields, folder, rest, word
from watchgate.agents.streams.heard import Heard
from watchgate.core.codewhale import frames
from watchgate.core.events import Text


def hear(line: Heard, frame: Any) -> None:
    """Adds the events of one frame; one that is not known is shown as it is."""
    known = frames.known(frame)
    fields: Fields = frame if isinstance(frame, dict) else {"frame": frame}
    native = word(fields, "event") or "generic_event_frame"
    step = _STEPS.get(type(known))
    if known is None or step is None:
        kind: Any = _KINDS.get(type(known), "notice")
        line.add_text(kind, native, rest(fields, ("event",)))
    else:
        step(line, native, known)


def _delta(line: Heard, native: str, frame: frames.ResponseDelta) -> None:
    channel = frame.channel
    # Text is what a channel that is left out means.
    apart = "" if channel is msgspec.UNSET or channel == "text" else f"/{channel}"
    line.add("message", native + apart, Text(frame.delta))


def _call_starts(line: Heard, native: str, frame: frames.ToolCallStart) -> None:
    call = line.session.calls.get(frame.response_id)
    tool = tools.of_arguments(frame.tool_name, frame.arguments, frame.response_id)
    if call is None:
        line.begin_call(native, tool, ran=True)
    else:
        call.ran = True
        line.begin_announced(call, tool)
        line.add_text("notice", native, tool.name)


def _call_gives(line: Heard, native: str, frame: frames.ToolCallResult) -> None:
    output: Fields = frame.output if isinstance(frame.output, dict) else {"body": frame.output}
    tool = tools.tool(frame.tool_name, {}, frame.response_id)
    line.end_call(native, tool, ok=output.get("success") is not False, output=output.get("body"))


def _error(line: Heard, native: str, frame: frames.Error) -> None:
    """Adds a failure: of a call that ran, of one that was refused before, or of something else."""
    call = line.session.calls.get(frame.response_id)
    if call is None:
        line.add_text("notice", native, frame.message)
    elif call.ran:
        line.end_call(native, call.tool, ok=False, output=frame.message)
    else:
        line.refuse_call(f"{native}/not-run", call.tool)


def _asks(
    line: Heard, native: str, frame: frames.ExecApprovalRequest | frames.ApplyPatchApprovalRequest
) -> None:
    """Adds a permission question: `turn_id` is no turn's here, so its command finds the call."""
    request = frame.request
    patch = isinstance(frame, frames.ApplyPatchApprovalRequest)
    args = {"description": request.command} if patch else {"command": request.command}
    tool = line.find_open_call(request.command) or tools.tool(
        "apply_patch" if patch else "exec_shell", args, request.call_id
    )
    cwd = folder({"cwd": request.cwd}, "cwd")
    line.ask_permission(native, request.approval_id, tool, cwd=cwd)


def _questions(line: Heard, native: str, frame: frames.UserInputRequest) -> None:
    asked = frame.request.get("questions")
    texts = [word(one, "question") for one in asked if isinstance(one, dict)] if asked else []
    line.add_text("question", native, "\n".join(texts) or rest(frame.request))


def _elicits(line: Heard, native: str, frame: frames.ElicitationRequest) -> None:
    line.add_text("question", native, f"{frame.server_name}: {frame.prompt}")


def _turn_starts(line: Heard, native: str, frame: frames.TurnStarted) -> None:
    line.session.turn = frame.turn_id
    line.add_text("model.request", native)


def _turn_ends(line: Heard, native: str, _frame: frames.TurnComplete) -> None:
    line.add_text("turn.end", native)
    line.session.end_turn()


def _turn_aborted(line: Heard, native: str, frame: frames.TurnAborted) -> None:
    line.add_text("turn.interrupt", native, frame.reason)
    line.session.end_turn()


_KINDS: Final[dict[Any, str]] = {
    frames.ResponseStart: "model.request",
    frames.ResponseEnd: "model.response",
}
_STEPS: Final[dict[Any, Callable[[Heard, str, Any], None]]] = {
    frames.ResponseDelta: _delta,
    frames.ToolCallStart: _call_starts,
    frames.ToolCallResult: _call_gives,
    frames.Error: _error,
    frames.ExecApprovalRequest: _asks,
    frames.ApplyPatchApprovalRequest: _asks,
    frames.UserInputRequest: _questions,
    frames.ElicitationRequest: _elicits,
    frames.TurnStarted: _turn_starts,
    frames.TurnComplete: _turn_ends,
    frames.TurnAborted: _turn_aborted,
}

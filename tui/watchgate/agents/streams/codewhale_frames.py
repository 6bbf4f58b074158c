"""The frames inside CodeWhale's `generic_event_frame`.

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


def hear(heard: Heard, frame: Any) -> None:
    """One frame; one that is not known is shown as it is."""
    known = frames.known(frame)
    fields: Fields = frame if isinstance(frame, dict) else {"frame": frame}
    native = word(fields, "event") or "generic_event_frame"
    step = _STEPS.get(type(known))
    if known is None or step is None:
        kind: Any = _KINDS.get(type(known), "notice")
        heard.words(kind, native, rest(fields, ("event",)))
    else:
        step(heard, native, known)


def _delta(heard: Heard, native: str, frame: frames.ResponseDelta) -> None:
    channel = frame.channel
    # Text is what a channel that is left out means.
    apart = "" if channel is msgspec.UNSET or channel == "text" else f"/{channel}"
    heard.say("message", native + apart, Text(frame.delta))


def _call_starts(heard: Heard, native: str, frame: frames.ToolCallStart) -> None:
    call = heard.seen.calls.get(frame.response_id)
    tool = tools.of_arguments(frame.tool_name, frame.arguments, frame.response_id)
    if call is None:
        heard.begin(native, tool, ran=True)
    else:
        call.ran = True
        heard.begin_announced(call, tool)
        heard.words("notice", native, tool.name)


def _call_gives(heard: Heard, native: str, frame: frames.ToolCallResult) -> None:
    output: Fields = frame.output if isinstance(frame.output, dict) else {"body": frame.output}
    tool = tools.tool(frame.tool_name, {}, frame.response_id)
    heard.end(native, tool, ok=output.get("success") is not False, said=output.get("body"))


def _error(heard: Heard, native: str, frame: frames.Error) -> None:
    """What failed: a call that ran, one that was refused before it ran, or something else."""
    call = heard.seen.calls.get(frame.response_id)
    if call is None:
        heard.words("notice", native, frame.message)
    elif call.ran:
        heard.end(native, call.tool, ok=False, said=frame.message)
    else:
        heard.refuse(f"{native}/not-run", call.tool)


def _asks(
    heard: Heard, native: str, frame: frames.ExecApprovalRequest | frames.ApplyPatchApprovalRequest
) -> None:
    """May it run: `turn_id` is not a turn's here, so the call is the open one of that command."""
    request = frame.request
    patch = isinstance(frame, frames.ApplyPatchApprovalRequest)
    args = {"description": request.command} if patch else {"command": request.command}
    tool = heard.running(request.command) or tools.tool(
        "apply_patch" if patch else "exec_shell", args, request.call_id
    )
    cwd = folder({"cwd": request.cwd}, "cwd")
    heard.ask(native, request.approval_id, tool, cwd=cwd)


def _questions(heard: Heard, native: str, frame: frames.UserInputRequest) -> None:
    asked = frame.request.get("questions")
    texts = [word(one, "question") for one in asked if isinstance(one, dict)] if asked else []
    heard.words("question", native, "\n".join(texts) or rest(frame.request))


def _elicits(heard: Heard, native: str, frame: frames.ElicitationRequest) -> None:
    heard.words("question", native, f"{frame.server_name}: {frame.prompt}")


def _turn_starts(heard: Heard, native: str, frame: frames.TurnStarted) -> None:
    heard.seen.turn = frame.turn_id
    heard.words("model.request", native)


def _turn_ends(heard: Heard, native: str, _frame: frames.TurnComplete) -> None:
    heard.words("turn.end", native)
    heard.seen.turn_over()


def _turn_aborted(heard: Heard, native: str, frame: frames.TurnAborted) -> None:
    heard.words("turn.interrupt", native, frame.reason)
    heard.seen.turn_over()


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

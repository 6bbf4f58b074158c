"""The frames inside a `generic_event_frame`; their discriminator is `event`, not `type`.

Unlike the events around them some leave out what is unset: those fields are `UNSET` here. Lists
are never left out. Source of the shapes: crates/protocol of Hmbown/CodeWhale, 2026-08-20.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from watchgate.core.base import decoding
from watchgate.core.codewhale import snake

Optional = str | None | UnsetType


class _CodewhaleFrame(msgspec.Struct, frozen=True, tag_field="event", tag=snake, gc=False):
    pass


class ResponseStart(_CodewhaleFrame, frozen=True):
    """The model begins to answer."""

    response_id: str


class ResponseDelta(_CodewhaleFrame, frozen=True):
    """A piece of the answer; `channel` is left out when it is `text`."""

    response_id: str
    delta: str
    channel: str | UnsetType = UNSET


class ResponseEnd(_CodewhaleFrame, frozen=True):
    """The answer is whole."""

    response_id: str


class ToolCallStart(_CodewhaleFrame, frozen=True):
    """A tool call; `arguments` is `{"type", "params"}` or what another tool takes."""

    response_id: str
    tool_name: str
    arguments: Any = None


class ToolCallResult(_CodewhaleFrame, frozen=True):
    """The result of a tool call; `output` is `{"type", "body", "success"}`."""

    response_id: str
    tool_name: str
    output: Any = None


class McpStartupUpdate(_CodewhaleFrame, frozen=True):
    """The start of an MCP server: `{"server_name", "status"}`, status a word or an object."""

    update: dict[str, Any]


class McpStartupComplete(_CodewhaleFrame, frozen=True):
    """The MCP servers that are ready, failed and cancelled."""

    summary: dict[str, Any]


class McpToolCallBegin(_CodewhaleFrame, frozen=True):
    """A call of an MCP server's tool begins."""

    server_name: str
    tool_name: str


class McpToolCallEnd(_CodewhaleFrame, frozen=True):
    """A call of an MCP server's tool ended."""

    server_name: str
    tool_name: str
    ok: bool


class ApprovalQuestion(msgspec.Struct, frozen=True):
    """A question to a person; `turn_id` is the tool's response id in headless runs."""

    call_id: str
    approval_id: str
    turn_id: str
    command: str = ""
    cwd: str = ""
    reason: str | None = ""
    matched_rule: Optional = UNSET
    network_approval_context: dict[str, Any] | UnsetType | None = UNSET
    proposed_execpolicy_amendment: list[str] = []
    proposed_network_policy_amendments: list[Any] = []
    additional_permissions: list[Any] = []
    available_decisions: list[Any] = []


class ExecApprovalRequest(_CodewhaleFrame, frozen=True):
    """A question whether a command may run."""

    request: ApprovalQuestion


class ApplyPatchApprovalRequest(_CodewhaleFrame, frozen=True):
    """A question whether a patch may be applied."""

    request: ApprovalQuestion


class UserInputRequest(_CodewhaleFrame, frozen=True):
    """Questions to the user: call_id, turn_id, request_id, questions."""

    request: dict[str, Any]


class ElicitationRequest(_CodewhaleFrame, frozen=True):
    """An MCP server asks the user for something."""

    server_name: str
    request_id: str
    prompt: str


class ExecCommandBegin(_CodewhaleFrame, frozen=True):
    """A command begins."""

    command: str
    cwd: str


class ExecCommandOutputDelta(_CodewhaleFrame, frozen=True):
    """Output of a command."""

    command: str
    delta: str


class ExecCommandEnd(_CodewhaleFrame, frozen=True):
    """A command ended."""

    command: str
    exit_code: int


class PatchApplyBegin(_CodewhaleFrame, frozen=True):
    """A file is about to be changed."""

    path: str


class PatchApplyEnd(_CodewhaleFrame, frozen=True):
    """A file was changed, or not."""

    path: str
    ok: bool


class TurnStarted(_CodewhaleFrame, frozen=True):
    """A turn begins."""

    turn_id: str


class TurnComplete(_CodewhaleFrame, frozen=True):
    """A turn ended."""

    turn_id: str


class TurnAborted(_CodewhaleFrame, frozen=True):
    """A turn was broken off."""

    turn_id: str
    reason: str


class ThreadGoalCleared(_CodewhaleFrame, frozen=True):
    """The thread has no goal any more."""

    thread_id: str


class Error(_CodewhaleFrame, frozen=True):
    """A failure; `response_id` names the call."""

    response_id: str
    message: str


Frame = (
    ResponseStart
    | ResponseDelta
    | ResponseEnd
    | ToolCallStart
    | ToolCallResult
    | McpStartupUpdate
    | McpStartupComplete
    | McpToolCallBegin
    | McpToolCallEnd
    | ExecApprovalRequest
    | ApplyPatchApprovalRequest
    | UserInputRequest
    | ElicitationRequest
    | ExecCommandBegin
    | ExecCommandOutputDelta
    | ExecCommandEnd
    | PatchApplyBegin
    | PatchApplyEnd
    | TurnStarted
    | TurnComplete
    | TurnAborted
    | ThreadGoalCleared
    | Error
)


def known_frame(frame: Any) -> Frame | None:
    """Returns the frame that a decoded `GenericEventFrame.frame` is; None if it is unknown."""
    try:
        known_frame: Frame = decoding.convert(frame, Frame)
    except msgspec.ValidationError:
        return None
    return known_frame

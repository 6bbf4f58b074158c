"""CodeWhale's HookEvents: the events of its sinks, one struct for each variant.

An unset optional field is null and never left out. Phases are open: those that are documented
(`start`, `end`) differ from those that are sent (`precheck`, `completed`), so any text is one.
Source of the shapes: crates/hooks of Hmbown/CodeWhale, head of 2026-08-20.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.codewhale.naming import snake


class _HookEvent(msgspec.Struct, frozen=True, tag_field="type", tag=snake, gc=False):
    pass


class ResponseStart(_HookEvent, frozen=True, tag="response_start"):
    """The model begins to answer."""

    response_id: str


class ResponseDelta(_HookEvent, frozen=True, tag="response_delta"):
    """A piece of the model's answer."""

    response_id: str
    delta: str


class ResponseEnd(_HookEvent, frozen=True, tag="response_end"):
    """The model's answer is whole."""

    response_id: str


class ToolLifecycle(_HookEvent, frozen=True):
    """A tool call; `phase` is one of precheck, dispatching, completed, failed, or anything else.

    `response_id` is made anew for each call: nothing else can be joined on it.
    """

    response_id: str
    tool_name: str
    phase: str
    payload: Any = None


class JobLifecycle(_HookEvent, frozen=True):
    """A background job; declared by CodeWhale, and never seen sent. `progress` is a percentage."""

    job_id: str
    phase: str
    progress: int | float | None = None
    detail: str | None = None


class ApprovalLifecycle(_HookEvent, frozen=True):
    """A question to a person; `phase` is requested, denied, or anything else."""

    approval_id: str
    phase: str
    reason: str | None = None


class GenericEventFrame(_HookEvent, frozen=True):
    """Anything else: `frame` is one of `frames.Frame`, or an object that we do not know."""

    frame: Any


class SerializationError(_HookEvent, frozen=True):
    """The event in place of one that cannot be written as JSON."""


HookEvent = (
    ResponseStart
    | ResponseDelta
    | ResponseEnd
    | ToolLifecycle
    | JobLifecycle
    | ApprovalLifecycle
    | GenericEventFrame
    | SerializationError
)


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """One line of a JSONL, webhook or socket sink; `at` is RFC 3339, see `stamps`."""

    at: str
    event: HookEvent

"""CodeWhale's HookEvents: the events of its sinks, one struct for each variant.

Its JSON comes in, events and sessions go out. It imports model and base. An unset field is null,
never left out. Any text is a phase: those that are sent differ from those that are documented.
Source of the shapes: crates/hooks of Hmbown/CodeWhale, head of 2026-08-20.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

_INNER_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def snake(name: str) -> str:
    """Returns the tag of a struct: `ToolLifecycle` is `tool_lifecycle`."""
    return _INNER_CAPITAL.sub("_", name).lower()


class _HookEvent(msgspec.Struct, frozen=True, tag_field="type", tag=snake, gc=False):
    pass


class ResponseStartEvent(_HookEvent, frozen=True, tag="response_start"):
    """The model begins to answer."""

    response_id: str


class ResponseDeltaEvent(_HookEvent, frozen=True, tag="response_delta"):
    """A piece of the model's answer."""

    response_id: str
    delta: str


class ResponseEndEvent(_HookEvent, frozen=True, tag="response_end"):
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
    ResponseStartEvent
    | ResponseDeltaEvent
    | ResponseEndEvent
    | ToolLifecycle
    | JobLifecycle
    | ApprovalLifecycle
    | GenericEventFrame
    | SerializationError
)


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """One line of a JSONL, webhook or socket sink; `at` is RFC 3339, to 9 decimals at most."""

    at: str
    event: HookEvent


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PARTS = re.compile(
    r"(?P<whole>\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d)(?:\.(?P<part>\d{1,9}))?"
    r"(?P<offset>[Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)


def write_stamp(wall_us: int) -> str:
    """Returns UTC µs since the epoch as CodeWhale writes them: `...T11:19:27.482913+00:00`."""
    return (_EPOCH + wall_us * _MICROSECOND).isoformat(timespec="microseconds")


def read_stamp(at: str) -> int | None:
    """Returns UTC µs since the epoch, digits beyond them cut off; None for any other text."""
    parts = _PARTS.fullmatch(at)
    if parts is None:
        return None
    offset = "+00:00" if parts["offset"] in "Zz" else parts["offset"]
    try:
        moment = datetime.fromisoformat(parts["whole"].upper() + offset)
    except ValueError:
        return None
    return (moment - _EPOCH) // _MICROSECOND + int((parts["part"] or "")[:6].ljust(6, "0"))

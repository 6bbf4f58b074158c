"""What every agent adapter provides: bytes to an event, a reply to bytes, and what to install."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

import msgspec

from watchgate.core.clock import Instant
from watchgate.core.events import Can, Event, Lane
from watchgate.core.verdicts import Reply

Style = Literal["claude", "codex"]
_CANNOT = Can()


class Intake(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a payload before it is decoded, from the frame's header lines."""

    lane: Lane
    at: Instant
    native: str = ""
    deadline_s: float | None = None
    env: dict[str, str] = {}


def awaited(event: Event, intake: Intake, can: Mapping[str, Can]) -> Event:
    """The event with what only matters where somebody waits: for how long, and `can` by its name.

    Most events are only observed, and a call with more than 15 named arguments is far slower.
    """
    if not intake.lane.waits:
        return event
    able = can.get(event.native, _CANNOT)
    return msgspec.structs.replace(event, can=able, deadline_s=intake.deadline_s)


class Answer(msgspec.Struct, frozen=True):
    """Exactly what the hook client prints and how it exits."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0


class DecodeError(ValueError):
    """The payload is not one of this agent's; the message says what is wrong with it."""


JSON_FAULTS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding JSON from outside raises."""


class HookEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One hook to install: the agent's event, the lane it is put on, and its limits in seconds."""

    event: str
    lane: Lane
    matcher: str | None = None
    timeout_s: int
    status_message: str | None = None


class Adapter(Protocol):
    """One agent's protocol, pure: no I/O and no clock."""

    @property
    def name(self) -> str:
        """The word used on the command line and in every record."""
        ...

    @property
    def title(self) -> str:
        """The name that a person reads in a sentence."""
        ...

    def decode(self, payload: bytes, intake: Intake) -> Event:
        """The event that this payload means; raises `DecodeError`."""
        ...

    def answer(self, event: Event, reply: Reply) -> Answer:
        """The exact bytes that tell the agent this reply to this event."""
        ...

    def closed(self, native: str, lane: Lane, reason: str) -> Answer:
        """The denial for a payload that cannot be decoded; nothing on lanes that hand back."""
        ...

    def entries(self, profile: str) -> tuple[HookEntry, ...]:
        """The hooks that a profile installs, in the order in which they are written."""
        ...

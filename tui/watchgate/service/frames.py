"""Decoding of hook frames into events; a frame that cannot be read raises and says why."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from watchgate.agents.base import Adapter, DecodeError, Intake
from watchgate.agents.borrowed import speaker
from watchgate.core.clock import Instant
from watchgate.core.events import Event, Lane
from watchgate.core.nesting import DEEPEST, too_deep
from watchgate.service.admission.ahead import Prepared, looked_through
from watchgate.service.framing import Head
from watchgate.service.lines import raw_event

_GATES = (Lane.GATE, Lane.GATE_READ)
_CALLS = ("tool.pre", "tool.permission")
_OWN = ("prompt.submit", "question")
"""Events that have hooks of their own: on those of another event nothing would be judged."""


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One whole hook frame: its header, its payload, its client's pid and when it came."""

    head: Head
    payload: bytes
    pid: int
    at: Instant
    teller_pid: int | None = None
    prepared: Prepared | None = None


def prepared(frame: Frame, adapters: Mapping[str, Adapter], *, whole: bool = False) -> Frame:
    """Returns the frame with all slow, independent work done; may run in any thread."""
    try:
        events = (decode_frame(frame, adapters, whole=whole),)
    except DecodeError as fault:
        return msgspec.structs.replace(frame, prepared=Prepared(fault=str(fault)))
    prepared = Prepared(events, secrets=looked_through(events))
    return msgspec.structs.replace(frame, prepared=prepared)


def decode_frame(frame: Frame, adapters: Mapping[str, Adapter], *, whole: bool = False) -> Event:
    """Returns the event of a frame, with its payload if the journal keeps it (`whole`).

    Raises `DecodeError`.
    """
    if frame.prepared is None:
        event = _decode(frame, adapters, whole=whole)
    elif frame.prepared.fault:
        raise DecodeError(frame.prepared.fault)
    else:
        event = frame.prepared.events[0]
    if frame.teller_pid is not None:
        event = msgspec.structs.replace(event, teller_pid=frame.teller_pid)
    return event


def _decode(frame: Frame, adapters: Mapping[str, Adapter], *, whole: bool) -> Event:
    head, payload = frame.head, frame.payload
    adapter = adapters.get(speaker(head.agent, payload, head.env, adapters))
    if adapter is None:
        raise DecodeError(f"unknown agent {head.agent!r}")
    intake = Intake(
        lane=head.lane, at=frame.at, native=head.native, deadline_s=head.deadline_s, env=head.env
    )
    try:
        event = adapter.decode(payload, intake)
    except DecodeError as fault:
        raise DecodeError(f"unreadable payload: {fault}") from fault
    if head.lane in _GATES:
        _demand_gated(event, head)
    if event.tool is not None and too_deep(event.tool.input):
        raise DecodeError(f"an input nested over {DEEPEST} levels deep")
    # Whatever was decoded is UTF-8 already.
    return msgspec.structs.replace(event, raw=payload.decode()) if whole else event


def _demand_gated(event: Event, head: Head) -> None:
    """Raises unless the event is one to gate, of this hook, that can be denied."""
    own = event.kind in _OWN and head.native in ("", event.native)
    if event.kind not in _CALLS and not own:
        raise DecodeError(
            f"{event.native} came on the {head.lane} lane but asks about no tool call or prompt"
        )
    if not event.can.deny:
        raise DecodeError(f"{event.native} came on the {head.lane} lane but takes no denial")


def unread_frame(
    head: Head | None, payload: bytes, pid: int, why: str, at: Instant, known: Mapping[str, Adapter]
) -> Event:
    """Returns the raw event for a frame that could not be read.

    Args:
        head: The frame's header, if that could be read.
        payload: The bytes after it.
        pid: The client's process.
        why: The fault, in words.
        at: The time of arrival.
        known: The adapters by name.
    """
    agent = head.agent if head and head.agent in known else "unknown"
    native = head.native if head else ""
    return raw_event(payload, why, at, session=f"pid {pid}", agent=agent, native=native)

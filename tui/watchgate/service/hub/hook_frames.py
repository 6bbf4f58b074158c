"""Decoding of hook frames into events, and the answer to a frame that could not be judged."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from watchgate.agents.agent_facts import resolve_agent
from watchgate.agents.base import Adapter, DecodeError, HookAnswer, Intake
from watchgate.core.base.clock import Instant
from watchgate.core.base.decoding import DEEPEST, too_deep
from watchgate.core.model.events import Event, Lane
from watchgate.service.admission.large_texts import Prepared, looked_through
from watchgate.service.system.error_boundary import contain_errors
from watchgate.service.wire.framing import FrameHead
from watchgate.service.wire.ingest_lines import raw_event


def failure_text(why: str) -> str:
    """Returns the reason of the denial, for the agent's model to read."""
    return f"watchgate: {why}. The call is denied; this is not a refusal by a person."


def deny_on_failure(
    head: FrameHead | None, why: str, *, adapters: Mapping[str, Adapter], strict: bool
) -> HookAnswer | None:
    """Returns a denial in the agent's own format where the lane denies; None where nothing waits.

    A frame whose head is unknown is taken for a gate's. `strict` closes gate-read as well.
    """
    lane = head.lane if head else Lane.GATE
    if not lane.waits:
        return None
    if lane is Lane.GATE_READ and strict:
        lane = Lane.GATE
    if head is not None and (adapter := adapters.get(head.agent)) is not None:
        # An adapter may be foreign code, and this is what answers for its faults.
        with contain_errors(lambda _fault: None):
            return adapter.closed(head.native, lane, failure_text(why))
    if lane is Lane.GATE:
        return HookAnswer(stderr=failure_text(why).encode() + b"\n", exit_code=2)
    return HookAnswer()


_CALLS = ("tool.pre", "tool.permission")
_OWN = ("prompt.submit", "question")
"""Events that have hooks of their own: on those of another event nothing would be judged."""


class HookFrame(msgspec.Struct, frozen=True, gc=False):
    """One whole hook frame: its header, its payload, its client's pid and when it came."""

    head: FrameHead
    payload: bytes
    pid: int
    at: Instant
    teller_pid: int | None = None
    prepared: Prepared | None = None


def prepared(
    frame: HookFrame, adapters: Mapping[str, Adapter], *, whole: bool = False
) -> HookFrame:
    """Returns the frame with all slow, independent work done; may run in any thread."""
    try:
        events = (decode_frame(frame, adapters, whole=whole),)
    except DecodeError as fault:
        return msgspec.structs.replace(frame, prepared=Prepared(fault=str(fault)))
    prepared = Prepared(events, secrets=looked_through(events))
    return msgspec.structs.replace(frame, prepared=prepared)


def decode_frame(
    frame: HookFrame, adapters: Mapping[str, Adapter], *, whole: bool = False
) -> Event:
    """Returns a frame's event, with its payload if that is kept (`whole`); raises `DecodeError`."""
    if frame.prepared is None:
        event = _decode(frame, adapters, whole=whole)
    elif frame.prepared.fault:
        raise DecodeError(frame.prepared.fault)
    else:
        event = frame.prepared.events[0]
    if frame.teller_pid is not None:
        event = msgspec.structs.replace(event, teller_pid=frame.teller_pid)
    return event


def _decode(frame: HookFrame, adapters: Mapping[str, Adapter], *, whole: bool) -> Event:
    head, payload = frame.head, frame.payload
    adapter = adapters.get(resolve_agent(head.agent, payload, head.env, adapters))
    if adapter is None:
        raise DecodeError(f"unknown agent {head.agent!r}")
    intake = Intake(
        lane=head.lane, at=frame.at, native=head.native, deadline_s=head.deadline_s, env=head.env
    )
    try:
        event = adapter.decode(payload, intake)
    except DecodeError as fault:
        raise DecodeError(f"unreadable payload: {fault}") from fault
    if head.lane in (Lane.GATE, Lane.GATE_READ):
        _demand_gated(event, head)
    if event.tool is not None and too_deep(event.tool.input):
        raise DecodeError(f"an input nested over {DEEPEST} levels deep")
    # Whatever was decoded is UTF-8 already.
    return msgspec.structs.replace(event, raw=payload.decode()) if whole else event


def _demand_gated(event: Event, head: FrameHead) -> None:
    """Raises unless the event is one to gate, of this hook, that can be denied."""
    own = event.kind in _OWN and head.native in ("", event.native)
    if event.kind not in _CALLS and not own:
        raise DecodeError(
            f"{event.native} came on the {head.lane} lane but asks about no tool call or prompt"
        )
    if not event.can.deny:
        raise DecodeError(f"{event.native} came on the {head.lane} lane but takes no denial")


def unread_frame(
    head: FrameHead | None,
    payload: bytes,
    pid: int,
    why: str,
    at: Instant,
    known: Mapping[str, Adapter],
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

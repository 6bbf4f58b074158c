"""Writes a record for its readers: as itself, or as CodeWhale's events."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from watchgate.core import codewhale
from watchgate.core.codewhale import HookEvent, SerializationError
from watchgate.core.codewhale.from_record import hook_events
from watchgate.core.model.records import Record

Wrap = Callable[[Record], bytes]
"""A record as whole lines, each ended by a newline."""

_FAULTS = (ValueError, TypeError, OverflowError, RecursionError, msgspec.MsgspecError)
_UNWRITABLE = {"unwritable": "this record's data cannot be written as JSON"}


class _Stamped(msgspec.Struct, frozen=True, gc=False):
    at: str
    event: msgspec.Raw


def as_record(record: Record) -> bytes:
    """Returns the record as `watchgate tail --json` prints it; without data that is no JSON.

    What cannot be written is a lone surrogate, say, in a program's output.
    """
    try:
        return msgspec.json.encode(record) + b"\n"
    except _FAULTS:
        return msgspec.json.encode(msgspec.structs.replace(record, data=_UNWRITABLE)) + b"\n"


def as_codewhale(record: Record) -> bytes:
    """Returns the record as CodeWhale's envelopes, `{"at": ..., "event": {...}}` (CW-4)."""
    at = codewhale.write_stamp(record.at)
    lines = [
        msgspec.json.encode(_Stamped(at, msgspec.Raw(event))) + b"\n" for event in _events(record)
    ]
    return b"".join(lines)


def as_bare_codewhale(record: Record) -> bytes:
    """Returns the record as CodeWhale's events, the way its stdout sink prints them (CW-4)."""
    return b"".join(event + b"\n" for event in _events(record))


def _events(record: Record) -> list[bytes]:
    return [_encoded(event) for event in hook_events(record)]


def _encoded(event: HookEvent) -> bytes:
    try:
        return msgspec.json.encode(event)
    except _FAULTS:
        return msgspec.json.encode(SerializationError())

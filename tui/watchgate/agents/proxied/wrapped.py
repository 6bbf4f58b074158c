"""One message of a line protocol as a proxy hands it to an adapter.

    {"watchgate": 1, "from": "agent"|"editor", "agent": PROGRAM, "cwd": FOLDER,
     "context": {...}, "message": {...}}

`context` is what earlier messages told that this one does not: for an answer the method that it
answers, for a call what was said of it so far. A message may also come bare, as it was on the wire.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.base import DecodeError
from watchgate.agents.proxied import Side
from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.events import Folder, Name

VERSION = 1


class WrappedMessage(msgspec.Struct, frozen=True, kw_only=True, rename={"side": "from"}):
    """A message and what is known around it."""

    watchgate: int = VERSION
    side: Side = "agent"
    agent: Name = ""
    cwd: Folder = ""
    context: dict[str, Any] = {}
    message: dict[str, Any] = {}


_ENCODER = msgspec.json.Encoder()


def wrap(wrapped: WrappedMessage) -> bytes:
    """Returns the bytes that `unwrap` reads."""
    return _ENCODER.encode(wrapped)


def unwrap(payload: bytes) -> WrappedMessage:
    """Returns the message with its surroundings; raises `DecodeError`."""
    try:
        fields: Any = msgspec.json.decode(payload)
        if not isinstance(fields, dict):
            raise DecodeError("not a message: it is no object")
        if "watchgate" not in fields:
            return WrappedMessage(message=fields)
        return decoding.convert(fields, WrappedMessage)
    except JSON_FAULTS as error:
        raise DecodeError(f"not a message: {error}") from error


def unread_because(why: str, side: Side, *, refused: bool) -> str:
    """Returns the reason on record for a line of this side's that could not be judged."""
    return f"{'refused' if refused else 'passed'} unread, from the {side}: {why}"


def word(value: Any, limit: int = 512) -> str:
    """Returns the text, or nothing where it is none or too long to identify anything."""
    return value if isinstance(value, str) and len(value) <= limit else ""


def count(value: Any) -> int | None:
    """Returns the whole number, None for anything else."""
    return value if type(value) is int else None


def number(value: Any) -> float | None:
    """Returns the number, None for anything else, also for one that is too large for a float."""
    try:
        return float(value) if type(value) in (int, float) else None
    except OverflowError:
        return None


def table(value: Any) -> dict[str, Any]:
    """Returns the object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[dict[str, Any]]:
    """Returns the objects of a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

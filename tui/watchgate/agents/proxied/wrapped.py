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
from watchgate.agents.proxied.wire import Side
from watchgate.core import decoding
from watchgate.core.events import Folder, Name
from watchgate.core.json_faults import JSON_FAULTS

VERSION = 1


class Wrapped(msgspec.Struct, frozen=True, kw_only=True, rename={"side": "from"}):
    """A message and what is known around it."""

    watchgate: int = VERSION
    side: Side = "agent"
    agent: Name = ""
    cwd: Folder = ""
    context: dict[str, Any] = {}
    message: dict[str, Any] = {}


_ENCODER = msgspec.json.Encoder()


def wrap(wrapped: Wrapped) -> bytes:
    """The bytes that `unwrap` reads."""
    return _ENCODER.encode(wrapped)


def unwrap(payload: bytes) -> Wrapped:
    """The message with its surroundings; raises `DecodeError`."""
    try:
        found: Any = msgspec.json.decode(payload)
        if not isinstance(found, dict):
            raise DecodeError("not a message: it is no object")
        if "watchgate" not in found:
            return Wrapped(message=found)
        return decoding.convert(found, Wrapped)
    except JSON_FAULTS as error:
        raise DecodeError(f"not a message: {error}") from error


def unread_because(why: str, side: Side, *, refused: bool) -> str:
    """What is recorded of a line of this side's that nobody could judge."""
    return f"{'refused' if refused else 'passed'} unread, from the {side}: {why}"


def word(value: Any, most: int = 512) -> str:
    """The text, or nothing where it is none or too long to identify anything."""
    return value if isinstance(value, str) and len(value) <= most else ""


def count(value: Any) -> int | None:
    """The whole number, None for anything else."""
    return value if type(value) is int else None


def number(value: Any) -> float | None:
    """The number, None for anything else, also for one that is too large for a float."""
    try:
        return float(value) if type(value) in (int, float) else None
    except OverflowError:
        return None


def table(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

"""The shared parts of usage readers: JSON lines as typed values, and a buffer of their calls.

A whole chunk is decoded in one call, and line by line where that is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated, Any, Final, NoReturn, TypeVar

import msgspec

from watchgate.agents.usage import FileFacts
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.usage.ledger import RecordKey
from watchgate.core.usage.usage_calls import UsageCall

Line = TypeVar("Line")

MAX_COUNT = 2**53
Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]
"""A number of tokens; what is more than a JSON number holds exactly is nobody's usage."""


PIECE_BYTES = 512 * 1024
"""Bytes decoded at once: the values of more of them no longer fit into a processor's caches."""


DIGITS = 20
"""No figure of interest has more; Python refuses to read thousands of them."""


class Unusable(ValueError):
    """A line tells usage, and its figures cannot be taken."""


def typed_lines(
    decoder: msgspec.json.Decoder[Line],
    chunk: bytes | memoryview,
    loose: Callable[[Any], Line | None],
) -> tuple[list[Line], int]:
    """Returns the lines of a chunk in order, and how many of them could not be read.

    `loose` makes a line of a JSON value that the typed decoder refuses: None if it does not
    matter, and it raises `Unusable` if it should have been one.
    """
    try:
        return decoder.decode_lines(chunk), 0
    except JSON_FAULTS:
        pass
    lines: list[Line] = []
    unreadable = 0
    for text in bytes(chunk).split(b"\n"):
        try:
            lines += decoder.decode_lines(text)
        except JSON_FAULTS:
            try:
                line = loose(_loosely(text))
            except (ValueError, RecursionError):
                unreadable += 1
            else:
                if line is not None:
                    lines.append(line)
    return lines, unreadable


def pieces(chunk: bytes) -> Iterator[memoryview]:
    """Returns a chunk of whole lines in smaller ones, none of them copied."""
    view = memoryview(chunk)
    at = 0
    while len(chunk) - at > PIECE_BYTES:
        end = chunk.rfind(b"\n", at, at + PIECE_BYTES) + 1 or chunk.find(b"\n", at) + 1
        if not end:
            break
        yield view[at:end]
        at = end
    yield view[at:]


def _loosely(text: bytes) -> Any:
    """Decodes JSON with odd bytes or unpaired surrogates, which a text cut in UTF-16 has.

    A mark of the byte order, which some editors put before the first line, is passed over.
    """
    cleaned = text.decode("utf-8-sig", "replace")
    return json.loads(cleaned, parse_int=_whole, parse_float=_figure, parse_constant=_refused)


def _whole(digits: str) -> int | float:
    """Returns a whole number; one with too many digits may stand where no figure is asked for."""
    return int(digits) if len(digits) <= DIGITS else math.inf


def _figure(text: str) -> int | float:
    """Returns a number; one with a fraction of nothing is a whole number."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) <= MAX_COUNT else value


def _refused(constant: str) -> NoReturn:
    raise Unusable(constant)


def text_of(value: object) -> str:
    """Returns a text as it can be stored; empty if the value is none."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def moment_us(text: str) -> int:
    """Returns UTC microseconds of an ISO 8601 time (without a zone it is UTC); 0 if it is none."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = datetime.fromisoformat(text + "+00:00")
        return max(0, round(moment.timestamp() * 1e6))
    except (ValueError, OverflowError):
        return 0


class ItemId(msgspec.Struct, gc=False):
    """An item of a list of calls of tools, of which only the id matters."""

    id: str | None = None


LONG_ID: Final = 16
"""From so many characters on an id is taken to be unique in the world, not in its session only."""


class CallBuffer:
    """The shared part of usage readers: the calls reported since they were last taken.

    `gone` are the keys of calls that were told before and are told no longer.
    """

    def __init__(self, facts: FileFacts | None = None) -> None:
        self.facts = facts or FileFacts()
        self.unreadable = 0
        self.gone: list[RecordKey] = []
        self._calls: dict[RecordKey, UsageCall] = {}

    def take(self) -> list[UsageCall]:
        """Returns the calls that are new or reported anew since the last time."""
        calls = list(self._calls.values())
        self._calls.clear()
        return calls

    def typed(
        self,
        decoder: msgspec.json.Decoder[Line],
        chunk: bytes,
        loose: Callable[[Any], Line | None],
    ) -> list[Line]:
        """Returns the lines of a chunk, as `typed_lines`, and counts those it could not read."""
        lines, unreadable = typed_lines(decoder, chunk, loose)
        self.unreadable += unreadable
        return lines

    def tell(self, call: UsageCall) -> None:
        """Reports a call that is new, or takes the place of the one with the same key."""
        self._calls[key_of(call)] = call

    def tell_used(self, call: UsageCall) -> bool:
        """Reports a call that used tokens, and says if it did; one without an id is unreadable."""
        if not call.id:
            self.unreadable += 1
        elif call.tokens:
            self.tell(call)
            return True
        return False

    def drop(self, call: UsageCall) -> None:
        """Withdraws a call that was reported."""
        key = key_of(call)
        self._calls.pop(key, None)
        self.gone.append(key)


def key_of(call: UsageCall) -> RecordKey:
    """Returns the key of a record within its file."""
    return call.id, call.request, call.side


def picked(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    """Returns some fields of an object of another shape than expected; its texts can be stored."""
    fields_by_name = {name: fields.get(name) for name in names}
    return {name: text_of(v) if isinstance(v, str) else v for name, v in fields_by_name.items()}


def millis(value: float | None) -> int | None:
    """Returns UTC microseconds of a count of milliseconds, None for what is no sensible time."""
    return round(value * 1_000) if value is not None and 0 <= value < 1e14 else None


def unique(call_id: str) -> str:
    """Returns the `request` of a call whose id is all that names it."""
    return call_id if len(call_id) >= LONG_ID else ""


def parts_of(path: str) -> list[str]:
    """Returns the folders of a path and the name of its file without its ending."""
    *folders, name = path.replace("\\", "/").split("/")
    return [*folders, name.rpartition(".")[0] or name]

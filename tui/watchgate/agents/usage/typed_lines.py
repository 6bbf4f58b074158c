"""The shared parts of usage readers: JSON lines as typed values, and a buffer of their calls.

A whole chunk is decoded in one call, and line by line where that is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec

from watchgate.core.json_faults import JSON_FAULTS

Line = TypeVar("Line")

MOST = 2**53
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
"""A number of tokens; what is more than a JSON number holds exactly is nobody's usage."""


PIECE_BYTES = 512 * 1024
"""What is decoded at once: values of more bytes no longer fit into the caches of a processor."""


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
    return int(value) if value.is_integer() and abs(value) <= MOST else value


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

"""Careful reads of a record's data: it may be purged, or changed by anybody."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from watchgate.core import decoding
from watchgate.core.events import Tool
from watchgate.core.records import Record

Data = Mapping[str, Any]

_TEXTS = frozenset("summary cwd rule reason lane gate word risk by alarm why name profile".split())
_NUMBERS = frozenset(("took_ms", "waited_s", "until"))


def well_formed(record: Record) -> Record:
    """Returns the record without values of another shape than a fold of records expects."""
    data = {key: value for key, value in record.data.items() if _fits(key, value)}
    return record if len(data) == len(record.data) else msgspec.structs.replace(record, data=data)


def text(data: Data, key: str) -> str:
    """Returns the text under a key; empty where there is none."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def number(data: Data, key: str) -> float | None:
    """Returns the finite number under a key; None where there is none."""
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def parts(data: Data, key: str) -> list[Data]:
    """Returns the objects of the list under a key."""
    value = data.get(key)
    listed = value if isinstance(value, list | tuple) else ()
    return [each for each in listed if isinstance(each, Mapping)]


def tool(data: Data) -> Tool | None:
    """Returns the call in the data, where its input was recorded."""
    try:
        call_tool = decoding.convert(data.get("tool"), Tool)
    except msgspec.ValidationError:
        return None
    return call_tool if call_tool.input else None


def pretty(value: Any) -> str:
    """Writes a value as JSON for people."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _fits(key: str, value: Any) -> bool:
    if key in _TEXTS:
        return isinstance(value, str)
    return key not in _NUMBERS or (isinstance(value, int | float) and math.isfinite(value))

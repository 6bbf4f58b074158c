"""The data of a record, looked into with care: it may be purged, or changed by anybody."""

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
    """The record without what is of another shape than a fold of records takes it for."""
    data = {key: value for key, value in record.data.items() if _fits(key, value)}
    return record if len(data) == len(record.data) else msgspec.structs.replace(record, data=data)


def text(data: Data, key: str) -> str:
    """The text that stands there; empty where there is none."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def number(data: Data, key: str) -> float | None:
    """The number that stands there."""
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def parts(data: Data, key: str) -> list[Data]:
    """The objects of a list that stands there."""
    value = data.get(key)
    found = value if isinstance(value, list | tuple) else ()
    return [each for each in found if isinstance(each, Mapping)]


def tool(data: Data) -> Tool | None:
    """The call that stands there, where its input was kept."""
    try:
        found = decoding.convert(data.get("tool"), Tool)
    except msgspec.ValidationError:
        return None
    return found if found.input else None


def pretty(value: Any) -> str:
    """A value as JSON for people."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _fits(key: str, value: Any) -> bool:
    if key in _TEXTS:
        return isinstance(value, str)
    return key not in _NUMBERS or (isinstance(value, int | float) and math.isfinite(value))

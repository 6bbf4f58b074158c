"""References in records to a large input that an earlier record of the call holds.

Of a tool `input` is then `{}`, `input_in` the number of that record and `input_bytes` its size; of
the input before a change there are `before_in` and `before_bytes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from watchgate.core.records import Record

LARGE_BYTES = 64 * 1024
"""A larger input is kept in one record of its call, and of a longer line only the beginning."""

REFERRING_LINE_CHARS = 8_192
"""Characters of its line that a record keeps whose input is in another one."""

IN, BYTES = "input_in", "input_bytes"
BEFORE_IN, BEFORE_BYTES = "before_in", "before_bytes"

Find = Callable[[int], Record | None]
"""Gives the record of a number, None where it is not there (any more)."""


def has_reference(data: Mapping[str, Any]) -> bool:
    """Tell whether the input of a record's call stands in another record."""
    tool = data.get("tool")
    return BEFORE_IN in data or (isinstance(tool, Mapping) and IN in tool)


def resolved(record: Record, find: Find) -> dict[str, Any]:
    """The record's data with the inputs that its references name.

    A reference stays where the record that it names is gone, was purged, or is of another call.
    """
    data = dict(record.data)
    tool = data.get("tool")
    if isinstance(tool, Mapping):
        held = _input(record, tool.get(IN), find)
        if held is not None:
            rest = {key: value for key, value in tool.items() if key not in (IN, BYTES)}
            data["tool"] = {**rest, "input": held}
    before = _input(record, data.get(BEFORE_IN), find)
    if before is not None:
        data = {key: value for key, value in data.items() if key not in (BEFORE_IN, BEFORE_BYTES)}
        data["before"] = before
    return data


def _input(record: Record, number: object, find: Find) -> dict[str, Any] | None:
    # A number from outside may name any record: the input of another call must not appear.
    if not isinstance(number, int) or not 0 < number < record.seq:
        return None
    holder = find(number)
    if holder is None or _call(holder) != _call(record):
        return None
    tool = holder.data.get("tool")
    if not isinstance(tool, Mapping) or BYTES in tool:
        return None
    held = tool.get("input")
    return held if isinstance(held, dict) else None


def _call(record: Record) -> tuple[str | None, str | None, str | None]:
    return record.agent, record.session, record.call

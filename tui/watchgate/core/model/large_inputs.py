"""The records that hold large inputs, by which later records of the same calls name them.

Of a tool `input` is then `{}`, `input_in` the number of that record and `input_bytes` its size; of
the input before a change there are `before_in` and `before_bytes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.base.ids import canonical_json
from watchgate.core.model.records import Draft, Record

LARGE_BYTES = 64 * 1024
"""A larger input is kept in one record of its call, and of a longer line only the beginning."""

REFERRING_LINE_CHARS = 8_192
"""Characters of its line that a record keeps whose input is in another one."""

IN, BYTES = "input_in", "input_bytes"
BEFORE_IN, BEFORE_BYTES = "before_in", "before_bytes"

Find = Callable[[int], Record | None]
"""Gives the record of a number, None where it is not there (any more)."""


def has_reference(data: Mapping[str, Any]) -> bool:
    """Tells whether the input of a record's call stands in another record."""
    tool = data.get("tool")
    return BEFORE_IN in data or (isinstance(tool, Mapping) and IN in tool)


def resolved(record: Record, find: Find) -> dict[str, Any]:
    """The record's data with the inputs that its references name.

    A reference stays where the record that it names is gone, was purged, or is of another call.
    """
    data = dict(record.data)
    tool = data.get("tool")
    if isinstance(tool, Mapping) and (held := _input(record, tool.get(IN), find)) is not None:
        rest = {key: value for key, value in tool.items() if key not in (IN, BYTES)}
        data["tool"] = {**rest, "input": held}
    if (before := _input(record, data.get(BEFORE_IN), find)) is not None:
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


MAX_HOLDERS = 2_000
# A call that is judged anew is recorded whole, whatever was recorded under its id before.
_JUDGED = ("held", "denied", "handback", "allowed")


class Holders:
    """Replaces inputs that an earlier record of the call holds by references to it.

    For each record `referring` comes first and then, once it has its number, `sealed`. A holder
    that leaves the journal or is purged is forgotten, as is the oldest of more than 2,000.
    """

    def __init__(self) -> None:
        self._numbers: Recent[_Large, int] = Recent(MAX_HOLDERS)
        self._next: _Large | None = None

    def referring(self, draft: Draft, data: dict[str, Any]) -> dict[str, Any]:
        """The data of a record with references in the place of the inputs that are held."""
        self._next = None
        if draft.kind == "policy.checkpoint":
            self._forget(lambda _holder, number: number <= data["removed_to"])
        elif draft.kind == "policy.purged":
            purged = data["agent"], data["session"]
            self._forget(lambda holder, _number: (holder.agent, holder.session) == purged)
        tool = data.get("tool")
        if not isinstance(tool, Mapping):
            return data
        view = data
        if large := _large(draft, tool.get("input")):
            number = None if data.get("gate") in _JUDGED else self._numbers.get(large)
            if number is None:
                self._next = large
            else:
                view = {**data, "tool": {**tool, "input": {}, IN: number, BYTES: large.size_bytes}}
        before = _large(draft, data.get("before"))
        if before is not None and (number := self._numbers.get(before)) is not None:
            view = {key: value for key, value in view.items() if key != "before"}
            view |= {BEFORE_IN: number, BEFORE_BYTES: before.size_bytes}
        return view

    def sealed(self, number: int) -> None:
        """Notes the number that the record got whose data was given last."""
        if self._next is not None:
            self._numbers.renew(self._next, number)
            self._next = None

    def _forget(self, is_gone: Callable[[_Large, int], bool]) -> None:
        for holder, number in list(self._numbers.items()):
            if is_gone(holder, number):
                del self._numbers[holder]


class _Large(msgspec.Struct, frozen=True):
    """A large input of a call, by which it is known again."""

    agent: str | None
    session: str | None
    call: str | None
    digest: bytes
    size_bytes: int


def _large(draft: Draft, value: object) -> _Large | None:
    """The input of a call where it is large; None for any other value."""
    encoded = canonical_json(value) if isinstance(value, dict) else b""
    if len(encoded) <= LARGE_BYTES:
        return None
    return _Large(draft.agent, draft.session, draft.call, sha256(encoded).digest(), len(encoded))

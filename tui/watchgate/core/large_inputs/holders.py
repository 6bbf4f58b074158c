"""The records that hold large inputs, by which later records of the same calls name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from watchgate.core.ids import canonical_json
from watchgate.core.large_inputs.reference import (
    BEFORE_BYTES,
    BEFORE_IN,
    BYTES,
    IN,
    LARGE_BYTES,
)
from watchgate.core.recent import Recent
from watchgate.core.records import Draft

HOLDERS_KEPT = 2_000
# A call that is judged anew is recorded whole, whatever was recorded under its id before.
_JUDGED = ("held", "denied", "handback", "allowed")


class Holders:
    """Replaces inputs that an earlier record of the call holds by references to it.

    For each record `referring` comes first and then, once it has its number, `sealed`. A holder
    that leaves the journal or is purged is forgotten, as is the oldest of more than 2,000.
    """

    def __init__(self) -> None:
        self._numbers: Recent[_Large, int] = Recent(HOLDERS_KEPT)
        self._next: _Large | None = None

    def referring(self, draft: Draft, data: dict[str, Any]) -> dict[str, Any]:
        """The data of a record with references in the place of the inputs that are held."""
        self._next = None
        if draft.kind == "policy.checkpoint":
            removed_to = data["removed_to"]
            self._forget(lambda _holder, number: number <= removed_to)
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
                shown = {**tool, "input": {}, IN: number, BYTES: large.size_bytes}
                view = {**view, "tool": shown}
        before = _large(draft, data.get("before"))
        number = None if before is None else self._numbers.get(before)
        if before is not None and number is not None:
            view = {key: value for key, value in view.items() if key != "before"}
            view |= {BEFORE_IN: number, BEFORE_BYTES: before.size_bytes}
        return view

    def sealed(self, number: int) -> None:
        """Note the number that the record got whose data was given last."""
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
    if not isinstance(value, dict) or not value:
        return None
    encoded = canonical_json(value)
    if len(encoded) <= LARGE_BYTES:
        return None
    digest = sha256(encoded).digest()
    return _Large(draft.agent, draft.session, draft.call, digest, len(encoded))

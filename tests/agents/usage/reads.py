"""Feeding readers of usage, and what they are left with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from hypothesis import strategies as st

from watchgate.agents.usage import UsageReader
from watchgate.core.usage.usage_calls import UsageCall

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 1 << 70) | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)
"""Whatever may stand in the place of a value."""

AT = "2026-11-02T09:00:01.123Z"
AT_US = 1_793_610_001_123_000


def jsonl(*records: Any) -> bytes:
    """Records as whole lines."""
    return b"".join(msgspec.json.encode(each) + b"\n" for each in records)


def left(reader: UsageReader) -> list[UsageCall]:
    """What a ledger has after everything that was read, in the order in which it was told first."""
    return list(kept({}, reader).values())


def kept(calls: dict[tuple[str, str, bool], UsageCall], reader: UsageReader) -> Any:
    """The calls after those that a reader tells anew and no longer."""
    told = reader.take()
    gone = getattr(reader, "gone", [])
    for key in gone:
        calls.pop(key, None)
    gone.clear()
    calls.update({(each.id, each.request, each.side): each for each in told})
    return calls


def one(reader: UsageReader) -> UsageCall:
    """The only call there is."""
    (call,) = left(reader)
    return call


def in_parts(reader: UsageReader, chunks: Iterable[bytes]) -> list[UsageCall]:
    """What is left after several readings, each taken at once."""
    calls: Any = {}
    for chunk in chunks:
        reader.read(chunk)
        kept(calls, reader)
    return list(calls.values())


def without(record: dict[str, Any], *names: str) -> dict[str, Any]:
    """A record that lacks some fields."""
    return {name: value for name, value in record.items() if name not in names}

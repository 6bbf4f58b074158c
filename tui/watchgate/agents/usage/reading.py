"""The shared parts of usage readers: JSON lines as typed values, and a buffer of their calls.

A whole chunk is decoded in one call, and line by line where that is refused.
"""

from __future__ import annotations

from typing import Any, Final

from watchgate.agents.usage.base import FileFacts
from watchgate.agents.usage.typed_lines import text_of
from watchgate.core.ledger.call import UsageCall
from watchgate.core.ledger.ledger import RecordKey

LONG_ID: Final = 16
"""From so many characters on an id is taken to be unique in the world, not in its session only."""


class Reading:
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

    def tell(self, call: UsageCall) -> None:
        """Reports a call that is new, or takes the place of the one with the same key."""
        self._calls[key_of(call)] = call

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

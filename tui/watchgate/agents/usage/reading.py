"""What several readers of usage share: the calls told so far, and what ids and paths say."""

from __future__ import annotations

from typing import Any, Final

from watchgate.agents.usage.base import FileFacts
from watchgate.agents.usage.typed_lines import text_of
from watchgate.core.ledger.call import UsageCall
from watchgate.core.ledger.ledger import RecordKey

LONG_ID: Final = 16
"""From so many characters on an id is taken to be unique in the world, not in its session only."""


class Reading:
    """The part of a `UsageReader` that is alike for all: the calls told since they were taken.

    `gone` are the keys of calls that were told before and are told no longer.
    """

    def __init__(self, facts: FileFacts | None = None) -> None:
        self.facts = facts or FileFacts()
        self.unreadable = 0
        self.gone: list[RecordKey] = []
        self._told: dict[RecordKey, UsageCall] = {}

    def take(self) -> list[UsageCall]:
        """The calls that are new or told anew since this was last asked."""
        calls = list(self._told.values())
        self._told.clear()
        return calls

    def tell(self, call: UsageCall) -> None:
        """A call that is new, or takes the place of the one with the same key."""
        self._told[key_of(call)] = call

    def drop(self, call: UsageCall) -> None:
        """A call that is told no longer."""
        key = key_of(call)
        self._told.pop(key, None)
        self.gone.append(key)


def key_of(call: UsageCall) -> RecordKey:
    """What names a record within its file."""
    return call.id, call.request, call.side


def picked(told: dict[str, Any], *names: str) -> dict[str, Any]:
    """Some fields of an object that is of another shape than expected; its texts can be stored."""
    found = {name: told.get(name) for name in names}
    return {name: text_of(v) if isinstance(v, str) else v for name, v in found.items()}


def millis(value: float | None) -> int | None:
    """UTC microseconds of a count of milliseconds, None for what is no sensible time."""
    return round(value * 1_000) if value is not None and 0 <= value < 1e14 else None


def unique(call_id: str) -> str:
    """The `request` of a call whose id is all that names it."""
    return call_id if len(call_id) >= LONG_ID else ""


def parts_of(path: str) -> list[str]:
    """The folders of a path and the name of its file without its ending."""
    *folders, name = path.replace("\\", "/").split("/")
    return [*folders, name.rpartition(".")[0] or name]

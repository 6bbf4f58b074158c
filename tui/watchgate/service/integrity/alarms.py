"""When a change becomes an alarm, and when that is over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from watchgate.core.records import TamperedData
from watchgate.service.integrity.findings import mended

Key = tuple[str, str]
"""A file's path, and the agent whose hooks are in it."""

Told = tuple[Literal["policy.tampered", "policy.intact"], TamperedData]


class Alarms:
    """Compares each look with what was told.

    A file is told of when two looks on end find it changed: our own installation changes one a
    moment before it notes that it did. `earlier` is what the core before had told and not mended.
    """

    def __init__(self, earlier: Iterable[TamperedData] = ()) -> None:
        self.told: dict[Key, TamperedData] = {}
        self._earlier = {(told.path, told.agent): told for told in earlier}
        self._last: Mapping[Key, TamperedData] = {}

    def at_once(self, found: Mapping[Key, TamperedData]) -> list[TamperedData]:
        """Return what is to be told of these without a second look: a call may run before that."""
        fresh = {key: each for key, each in found.items() if key not in self.told}
        self.told |= fresh
        self._last = {**self._last, **fresh}
        return list(fresh.values())

    def look(self, found: Mapping[Key, TamperedData]) -> list[Told]:
        """What is to be told now that this was found; from now on it counts as told."""
        was_wrong, self._earlier = self._earlier, {}
        tells: list[Told] = [
            ("policy.intact", mended(told)) for key, told in was_wrong.items() if key not in found
        ]
        for key, told in list(self.told.items()):
            if key not in found:
                del self.told[key]
                tells.append(("policy.intact", mended(told)))
        for key, each in found.items():
            # What never stays the same must not go untold, nor be told at every look.
            is_new = key not in self.told and key in self._last
            if is_new or (self._last.get(key) == each and self.told[key] != each):
                self.told[key] = each
                tells.append(("policy.tampered", each))
        self._last = found
        return tells

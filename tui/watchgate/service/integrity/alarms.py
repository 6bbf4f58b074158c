"""When a change becomes an alarm, and when that is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from watchgate.core.records import TamperedData
from watchgate.service.integrity.findings import mended

Key = tuple[str, str]
"""A file's path, and the agent whose hooks are in it."""

Told = tuple[Literal["policy.tampered", "policy.intact"], TamperedData]


class Alarms:
    """Compares each look with what was told.

    A change is told when two looks on end find the same: our own installation changes a file a
    moment before it notes that it did.
    """

    def __init__(self) -> None:
        self.told: dict[Key, TamperedData] = {}
        self._last: Mapping[Key, TamperedData] = {}

    def look(self, found: Mapping[Key, TamperedData]) -> list[Told]:
        """What is to be told now that this was found; from now on it counts as told."""
        tells: list[Told] = []
        for key, told in list(self.told.items()):
            if key not in found:
                del self.told[key]
                tells.append(("policy.intact", mended(told)))
        for key, each in found.items():
            if self._last.get(key) == each and self.told.get(key) != each:
                self.told[key] = each
                tells.append(("policy.tampered", each))
        self._last = found
        return tells

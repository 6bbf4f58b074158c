"""Reads every file that the gate rests on when its stamp has changed, and decides on alarms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from watchgate.core.records import TamperedData
from watchgate.service.integrity.findings import mended

Key = tuple[str, str]
"""A file's path, and the agent whose hooks are in it."""

Told = tuple[Literal["policy.tampered", "policy.intact"], TamperedData]


class Alarms:
    """Compares each look with what was reported.

    A file is reported when two looks on end find it changed: our own installation changes one a
    moment before it notes that it did. `earlier` is what the core before reported as open.
    """

    def __init__(self, earlier: Iterable[TamperedData] = ()) -> None:
        self.reported: dict[Key, TamperedData] = {}
        self._earlier = {(alarm.path, alarm.agent): alarm for alarm in earlier}
        self._last: Mapping[Key, TamperedData] = {}

    def at_once(self, faults: Mapping[Key, TamperedData]) -> list[TamperedData]:
        """Returns what to report without a second look: a call may run before that."""
        fresh = {key: each for key, each in faults.items() if key not in self.reported}
        self.reported |= fresh
        self._last = {**self._last, **fresh}
        return list(fresh.values())

    def look(self, faults: Mapping[Key, TamperedData]) -> list[Told]:
        """Returns what to report after this look; from now on it counts as reported."""
        was_wrong, self._earlier = self._earlier, {}
        tells: list[Told] = [
            ("policy.intact", mended(alarm))
            for key, alarm in was_wrong.items()
            if key not in faults
        ]
        for key, alarm in list(self.reported.items()):
            if key not in faults:
                del self.reported[key]
                tells.append(("policy.intact", mended(alarm)))
        for key, each in faults.items():
            # What never stays the same must not go untold, nor be told at every look.
            is_new = key not in self.reported and key in self._last
            if is_new or (self._last.get(key) == each and self.reported[key] != each):
                self.reported[key] = each
                tells.append(("policy.tampered", each))
        self._last = faults
        return tells

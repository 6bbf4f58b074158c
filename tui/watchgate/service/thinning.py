"""Sampling of records for a console when far more happens than anyone can read.

A call is passed on whole or not at all, so that no row stays "running" for want of its end. What a
person has to decide or must not miss is always passed on, and calls of high or critical risk are.
Calls have an allowance of their own: no stream of text takes it up. The console fetches what was
left out once it is quiet.
"""

from __future__ import annotations

from watchgate.core.records import Record

CALLS_PER_WINDOW = 30
OTHERS_PER_WINDOW = 30
WINDOW_US = 100_000
REMEMBERED = 20_000
_ALWAYS = (
    *("approval.", "console.", "effect.", "grant.", "policy.", "prompt.", "session.", "turn."),
    "usage",
)
_BEGINS = frozenset({"tool.pre", "tool.permission"})
_ENDS = frozenset({"tool.post", "tool.error"})
_UNDECIDED = frozenset({"handback", "recorded"})
_GRAVE = frozenset({"high", "critical"})

Key = tuple[str | None, str | None, str]


class Thinning:
    """Passes at most so many calls that nobody was asked about in each tenth of a second.

    The records' own times count. The window is a console's tick, so that its picture keeps moving.
    `others` limits what belongs to no call: pieces of an answer, notices.
    """

    def __init__(self, *, calls: int = CALLS_PER_WINDOW, others: int = OTHERS_PER_WINDOW) -> None:
        self._calls = _Allowance(calls)
        self._others = _Allowance(others)
        self._passed: set[Key] = set()
        self._spared: set[Key] = set()

    def passes(self, record: Record) -> bool:
        """Returns whether the console gets this record."""
        kind = record.kind
        if kind.startswith(_ALWAYS):
            return True
        if record.call is None:
            return self._others.spend(record.at)
        key = (record.agent, record.session, record.call)
        if kind in _BEGINS and _is_never_spared(record):
            self._spared.discard(key)
            self._remember(self._passed, key)
            return True
        known = key in self._passed
        if not known and key not in self._spared:
            known = self._calls.spend(record.at)
            self._remember(self._passed if known else self._spared, key)
        if kind in _ENDS:
            self._passed.discard(key)
            self._spared.discard(key)
        return known

    def _remember(self, keys: set[Key], key: Key) -> None:
        if len(keys) >= REMEMBERED:
            keys.clear()
        keys.add(key)


class _Allowance:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._window = 0
        self._spent = 0

    def spend(self, at: int) -> bool:
        """Takes one of this window's, if any is left (`at`: UTC µs)."""
        window = at // WINDOW_US
        if window != self._window:
            self._window, self._spent = window, 0
        self._spent += 1
        return self._spent <= self._limit


def _is_never_spared(record: Record) -> bool:
    data = record.data
    return data.get("gate") not in _UNDECIDED or data.get("risk") in _GRAVE

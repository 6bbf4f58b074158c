"""Sessions without usage files, counted in the same ledger by what agents reported of them.

As soon as a file holds a call of such a session, the reports about it are left out: they are of the
same usage, and the file has more of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.core.ledger.books import Key
from watchgate.core.ledger.call import UsageCall
from watchgate.core.ledger.ledger import Ledger
from watchgate.core.ledger.told import ToldCalls
from watchgate.core.records import Record

_PREFIX = "told:"


def told_file(key: Key) -> str:
    """Returns the name in a ledger of the reports about a session."""
    return f"{_PREFIX}{key[0]}:{key[1]}"


class ToldBeside:
    """Feeds reported usage of sessions into a ledger of files; `settle` brings it up to both."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._reported = ToldCalls()
        self._in_ledger: dict[Key, dict[str, UsageCall]] = {}
        self._touched: dict[Key, None] = {}

    def take(self, record: Record) -> None:
        """Takes a record in, in the order in which they were made; other kinds change nothing."""
        key = self._reported.take(record)
        if key is not None:
            self._touched[key] = None

    def settle(self, changed: Iterable[Key]) -> None:
        """Counts what was reported since; `changed` are sessions whose files may hold more or less.

        The ledger says itself which sessions changed by this.
        """
        due = self._touched | dict.fromkeys(key for key in changed if key in self._reported)
        self._touched = {}
        for key in due:
            if self._has_file(key):
                if self._in_ledger.pop(key, None):
                    self._ledger.forget(told_file(key))
            else:
                self._put(key)

    def _has_file(self, key: Key) -> bool:
        return any(not call.file.startswith(_PREFIX) for call in self._ledger.calls(key))

    def _put(self, key: Key) -> None:
        before = self._in_ledger.get(key, {})
        now = {call.id: call for call in self._reported.calls(key)}
        new = [call for id, call in now.items() if before.get(id) != call]
        gone = [(id, "", False) for id in before if id not in now]
        if new or gone:
            self._in_ledger[key] = now
            self._ledger.put(told_file(key), key[0], new, gone=gone)

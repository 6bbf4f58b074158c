"""Sessions that no file tells of, counted in the same ledger by what was told of them.

As soon as a file tells of a call of such a session, what was told of it is left out: it is the same
usage, and the file knows more.
"""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.core.ledger.call import UsageCall
from watchgate.core.ledger.ledger import Key, Ledger
from watchgate.core.ledger.told import ToldCalls
from watchgate.core.records import Record

_PREFIX = "told:"


def told_file(key: Key) -> str:
    """The name in a ledger of what was told of a session."""
    return f"{_PREFIX}{key[0]}:{key[1]}"


class ToldBeside:
    """What records tell of sessions, in a ledger of files; `settle` brings it up to both."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._told = ToldCalls()
        self._said: dict[Key, dict[str, UsageCall]] = {}
        self._touched: dict[Key, None] = {}

    def take(self, record: Record) -> None:
        """Take a record in, in the order in which they were made; other kinds change nothing."""
        key = self._told.take(record)
        if key is not None:
            self._touched[key] = None

    def settle(self, changed: Iterable[Key]) -> None:
        """Count what was told since; `changed` are sessions of which files may tell more or less.

        The ledger says itself which sessions changed by this.
        """
        due = self._touched | dict.fromkeys(key for key in changed if key in self._told)
        self._touched = {}
        for key in due:
            if self._has_file(key):
                if self._said.pop(key, None):
                    self._ledger.forget(told_file(key))
            else:
                self._put(key)

    def _has_file(self, key: Key) -> bool:
        return any(not call.file.startswith(_PREFIX) for call in self._ledger.calls(key))

    def _put(self, key: Key) -> None:
        said = self._said.get(key, {})
        now = {call.id: call for call in self._told.calls(key)}
        new = [call for id, call in now.items() if said.get(id) != call]
        gone = [(id, "", False) for id in said if id not in now]
        if new or gone:
            self._said[key] = now
            self._ledger.put(told_file(key), key[0], new, gone=gone)

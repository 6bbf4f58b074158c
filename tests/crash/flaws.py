"""Cores that are made to lie, so that these tests show that they would find one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from watchgate.core.chain.hash_chain import JournalRow
from watchgate.service.hub.grant_sync import GrantStore
from watchgate.service.journal.writer import Callback, Journal


def _keep_nothing() -> None:
    def taken(_journal: Journal, _row: JournalRow | Sequence[JournalRow]) -> None:
        """As if it lay in the memory of a disk that says otherwise."""

    def said(_journal: Journal, callback: Callback) -> None:
        callback(True)

    for name, lying in (("append", taken), ("extend", taken), ("commit", said)):
        setattr(Journal, name, lying)


def _forget_grants() -> None:
    async def saved(_store: GrantStore) -> None:
        """Nothing is written."""

    setattr(GrantStore, "save", saved)  # noqa: B010 - a method, for this process alone


FLAWS: dict[str, Callable[[], None]] = {
    "keeps nothing": _keep_nothing,
    "forgets grants": _forget_grants,
}

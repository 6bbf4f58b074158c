"""All usage that this machine knows of: files of agents, and what the journal was told."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from watchgate.cli.costs.journal import JournalTold
from watchgate.cli.costs.view import Asked, View, view
from watchgate.cli.place import configured, here
from watchgate.cli.since import now_us
from watchgate.core.ledger.ledger import Key, Ledger

if TYPE_CHECKING:
    from watchgate.service.prices.prices import Prices
    from watchgate.service.usage.book import UsageBook

SLICE_BYTES = 16 * 1024 * 1024


class Reading:
    """Reads what there is, and on when asked again; what cannot be read is counted."""

    def __init__(
        self, ledger: Ledger, book: UsageBook, prices: Prices, reported: JournalTold
    ) -> None:
        self.ledger = ledger
        self.book = book
        self.prices = prices
        self.reported = reported

    def read(self, show: Callable[[int], None]) -> bool:
        """Read all that is new; `show` takes the MiB that are left.

        Returns whether anything may be another figure now.
        """
        lost = self.book.unreadable
        self.book.look()
        while left := self.book.refresh(SLICE_BYTES):
            show(left // (1024 * 1024))
        return self.reported.read() or lost != self.book.unreadable

    def view(self, asked: Asked) -> View:
        """Return the view that is wanted, as far as it has been read."""
        return view(asked, self.ledger, self.reported.by_session(), self._facts)

    def keys(self) -> set[Key]:
        """The sessions that used anything."""
        return {(row.agent, row.session) for row in self.ledger.rows()} | set(
            self.reported.by_session()
        )

    def faults(self) -> list[str]:
        """Return what a person has to know of how complete and how new the figures are."""
        from watchgate.cli.costs.table import unreadable_words

        lost = self.book.unreadable
        remarks = (
            unreadable_words(lost.lines, lost.files),
            self.reported.fault,
            self.prices.remark(),
        )
        return [words for words in remarks if words]

    def _facts(self, key: Key) -> tuple[int, str]:
        facts = self.book.of(key)
        return facts.unreadable, facts.cwd


def reading() -> Reading:
    """Nothing read yet; a bad configuration ends the command."""
    from watchgate.agents.usage.places import places
    from watchgate.service.prices.prices import prices_of
    from watchgate.service.usage.book import UsageBook
    from watchgate.service.usage.cache import FOLDER
    from watchgate.service.usage.local_days import local_day

    paths = here(sockets=False)
    prices = prices_of(configured(paths), paths, now_us())
    ledger = Ledger(prices.tariff_of, local_day)
    # What a core remembers of files spares reading them; without one they are read as they are.
    cache = paths.state_dir / FOLDER
    book = UsageBook(
        places(os.environ, str(Path.home())), ledger, cache=cache if cache.exists() else None
    )
    return Reading(ledger, book, prices, JournalTold(paths.journal, ledger))


def first_day(days: int, now: int) -> int:
    """The first of so many local days up to now (UTC µs)."""
    from watchgate.service.usage.local_days import local_day

    return local_day(now) - days + 1

"""All usage that this machine knows of: files of agents, and what the journal was told.

- Usage that agents and their streams reported, out of the journal: for sessions without files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from watchgate.cli.base.command_environment import configured, here
from watchgate.cli.base.since import now_us
from watchgate.cli.money.cost_view import CostQuery, CostView, view
from watchgate.core.usage.ledger import Key, Ledger

if TYPE_CHECKING:
    from watchgate.core.model.records import Record
    from watchgate.core.state.state import State
    from watchgate.core.usage.reported_calls import ReportedFeed
    from watchgate.core.usage.session_usage import ReportedUsage
    from watchgate.service.prices.prices import Prices
    from watchgate.service.usage.usage_files import UsageFiles


MAX_SESSIONS = 1_000_000


class ReportedInJournal:
    """The told figures of sessions, read on whenever it is asked; no journal tells nothing.

    Calls that were told of are in the ledger for as long as no file tells of their session.
    """

    def __init__(self, journal: Path, ledger: Ledger) -> None:
        self._journal = journal
        self._ledger = ledger
        self._folds: _Folds | None = None
        self._upto = 0
        self.fault = ""

    def read(self) -> bool:
        """Takes in what was recorded since, once the files have been read.

        Returns whether anything that a session used may be another figure now.
        """
        before = self._upto, self.fault
        if self._journal.exists():
            if self._folds is None:
                self._folds = _Folds(self._ledger)
            self._read_on(self._folds)
        changed = self._ledger.changed()
        if self._folds is not None:
            self._folds.reported.settle(changed)
        return bool(changed or self._ledger.changed() or before != (self._upto, self.fault))

    def by_session(self) -> dict[Key, ReportedUsage]:
        """Returns the reported usage of each session."""
        if self._folds is None:
            return {}
        return {key: each.reported for key, each in self._folds.state.usage.sessions.items()}

    def _read_on(self, folds: _Folds) -> None:
        from watchgate.core.usage.reported_calls import REPORT_KINDS
        from watchgate.service.journal import journal_reader
        from watchgate.service.journal.schema import JournalError
        from watchgate.service.search.index_query import records_of_kinds
        from watchgate.service.system.error_boundary import contain_each

        try:
            _, last = journal_reader.ends(self._journal)
            records = records_of_kinds(self._journal, REPORT_KINDS, self._upto + 1, last)
            contain_each(records, folds.take, _nothing)
            self._upto = max(self._upto, last)
            self.fault = ""
        except JournalError as fault:
            self.fault = str(fault)


class _Folds:
    """Sums of records; much is imported for it, which only a journal makes worth while."""

    def __init__(self, ledger: Ledger) -> None:
        from watchgate.core.state.state import State
        from watchgate.core.usage.reported_calls import ReportedFeed
        from watchgate.core.usage.usage_fold import UsageFold

        self.reported: ReportedFeed = ReportedFeed(ledger)
        self.state: State = State(max_rows=1)
        self.state.usage = UsageFold(max_sessions=MAX_SESSIONS)

    def take(self, record: Record) -> None:
        self.state.apply(record)
        self.reported.take(record)


def _nothing(_fault: str) -> None:
    """A record that cannot be read is missing in the figures, and nowhere else."""


SLICE_BYTES = 16 * 1024 * 1024


class CostReading:
    """Reads what there is, and on when asked again; what cannot be read is counted."""

    def __init__(
        self, ledger: Ledger, book: UsageFiles, prices: Prices, reported: ReportedInJournal
    ) -> None:
        self.ledger = ledger
        self.book = book
        self.prices = prices
        self.reported = reported

    def read(self, show: Callable[[int], None]) -> bool:
        """Reads all that is new; `show` takes the MiB that are left.

        Returns whether anything may be another figure now.
        """
        lost = self.book.unreadable
        self.book.look()
        while left := self.book.refresh(SLICE_BYTES):
            show(left // (1024 * 1024))
        return self.reported.read() or lost != self.book.unreadable

    def view(self, asked: CostQuery) -> CostView:
        """Returns the view that is wanted, as far as it has been read."""
        return view(asked, self.ledger, self.reported.by_session(), self._facts)

    def keys(self) -> set[Key]:
        """The sessions that used anything."""
        return {(row.agent, row.session) for row in self.ledger.rows()} | set(
            self.reported.by_session()
        )

    def faults(self) -> list[str]:
        """Returns the remarks on how complete and how new the figures are."""
        from watchgate.cli.money.cost_table import unreadable_words

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


def reading() -> CostReading:
    """Nothing read yet; a bad configuration ends the command."""
    from watchgate.agents.usage import usage_places
    from watchgate.link.paths import USAGE_CACHE
    from watchgate.service.prices.prices import prices_of
    from watchgate.service.system.local_days import local_day
    from watchgate.service.usage.usage_files import UsageFiles

    paths = here(sockets=False)
    prices = prices_of(configured(paths), paths, now_us())
    ledger = Ledger(prices.tariff_of, local_day)
    # What a core remembers of files spares reading them; without one they are read as they are.
    cache = paths.state_dir / USAGE_CACHE
    book = UsageFiles(
        usage_places(os.environ, str(Path.home())), ledger, cache=cache if cache.exists() else None
    )
    return CostReading(ledger, book, prices, ReportedInJournal(paths.journal, ledger))


def first_day(days: int, now: int) -> int:
    """The first of so many local days up to now (UTC µs)."""
    from watchgate.service.system.local_days import local_day

    return local_day(now) - days + 1

"""Usage that agents and their streams reported, out of the journal: for sessions without files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchgate.core.ledger.beside import ToldBeside
    from watchgate.core.ledger.ledger import Key, Ledger
    from watchgate.core.records import Record
    from watchgate.core.state import State
    from watchgate.core.usage.session import Told

SESSIONS_MOST = 1_000_000


class JournalTold:
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
        """Take in what was recorded since, once the files have been read.

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

    def by_session(self) -> dict[Key, Told]:
        """Return the reported usage of each session."""
        if self._folds is None:
            return {}
        return {key: each.reported for key, each in self._folds.state.usage.sessions.items()}

    def _read_on(self, folds: _Folds) -> None:
        from watchgate.core.ledger.told import KINDS
        from watchgate.service.boundary import each_contained
        from watchgate.service.journal import reading
        from watchgate.service.journal.schema import JournalError
        from watchgate.service.search.kinds import of_kinds

        try:
            _, last = reading.ends(self._journal)
            records = of_kinds(self._journal, KINDS, self._upto + 1, last)
            each_contained(records, folds.take, _nothing)
            self._upto = max(self._upto, last)
            self.fault = ""
        except JournalError as fault:
            self.fault = str(fault)


class _Folds:
    """Sums of records; much is imported for it, which only a journal makes worth while."""

    def __init__(self, ledger: Ledger) -> None:
        from watchgate.core.ledger.beside import ToldBeside
        from watchgate.core.state import State
        from watchgate.core.usage.fold import UsageFold

        self.reported: ToldBeside = ToldBeside(ledger)
        self.state: State = State(max_rows=1)
        self.state.usage = UsageFold(max_sessions=SESSIONS_MOST)

    def take(self, record: Record) -> None:
        self.state.apply(record)
        self.reported.take(record)


def _nothing(_fault: str) -> None:
    """A record that cannot be read is missing in the figures, and nowhere else."""

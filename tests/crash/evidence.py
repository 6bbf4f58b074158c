"""What a place holds after its core was killed, held against what the clients were promised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from tests.crash.clients import Control
from tests.crash.ledger import Promises
from watchgate.core.filters.filter_parser import parse
from watchgate.core.model.records import Record
from watchgate.service.history import record_pages
from watchgate.service.journal import journal_reader
from watchgate.service.journal import verification as journal_verify
from watchgate.service.journal.schema import JournalError, open_to_read
from watchgate.service.search.index_query import index_of
from watchgate.service.search.indexer import Upkeep


class Evidence:
    """The journal of one place, looked at between two cores."""

    def __init__(self, state: Path, promises: Promises) -> None:
        self._journal = state / "journal.db"
        self._promises = promises
        self._newest = 0

    def check(self) -> None:
        """The journal opens, its chain verifies, and it bears out whatever was heard."""
        try:
            verdict = journal_verify.verify_journal(self._journal)
        except JournalError as fault:
            self._nothing(str(fault))
            return
        assert verdict.problem is None, verdict.problem
        assert verdict.head.seq >= self._newest, "what was on disk before is gone"
        records = list(journal_reader.read(self._journal, self._newest + 1, verdict.head.seq))
        # What retention took away meanwhile was seen here before.
        numbers = [record.seq for record in records]
        assert numbers == list(range(verdict.head.seq - len(records) + 1, verdict.head.seq + 1))
        self._newest = verdict.head.seq
        self._decisions(records)
        kinds = Counter(record.kind for record in records)
        assert kinds >= self._promises.due, f"told and not on record: {self._promises.due - kinds}"
        self._promises.due.clear()
        assert not self._kept_of(self._promises.purged), "told to be purged and still there"

    def _nothing(self, fault: str) -> None:
        """The first core of a place was killed before it wrote a record, or over its making."""
        assert "yet" in fault or "start a core" in fault, fault
        assert self._newest == 0
        assert not self._promises.allowed
        assert not self._promises.taken

    def check_index(self) -> None:
        """An index that has caught up finds what the journal has, whatever it went through."""
        upkeep = Upkeep(self._journal)
        assert upkeep.round(lambda: False) == ""
        upkeep.close()
        with index_of(self._journal) as index:
            assert index is not None
            assert index.upto == self._newest
        for session in sorted(self._promises.sessions):
            found = record_pages.search(self._journal, parse(f"session:{session}"), 1_000)[
                "records"
            ]
            there = self._select("SELECT seq FROM record WHERE session = ?", session)
            assert {record.seq for record in found} == there, session
            word = f"build-{session.partition('-')[2]}"
            found = record_pages.search(self._journal, parse(f"kind:tool.pre {word}"), 1_000)[
                "records"
            ]
            like = "SELECT seq FROM record WHERE kind = 'tool.pre' AND data LIKE ?"
            assert {record.seq for record in found} == self._select(like, f"%{word}%"), word

    def _kept_of(self, sessions: Iterable[str]) -> set[int]:
        whole = "SELECT seq FROM record WHERE session = ? AND data IS NOT NULL"
        return {seq for session in sessions for seq in self._select(whole, session)}

    def _select(self, query: str, word: str) -> set[int]:
        with closing(open_to_read(self._journal)) as connection:
            return {seq for (seq,) in connection.execute(query, (word,))}

    def _decisions(self, records: list[Record]) -> None:
        asked = {
            record.request: record.data["summary"]
            for record in records
            if record.kind == "approval.requested"
        }
        words = {
            record.request: record.data["word"]
            for record in records
            if record.kind == "approval.decided"
        }
        allowed = {asked[id] for id, word in words.items() if word.startswith("allowed-")}
        denied = {asked[id] for id, word in words.items() if not word.startswith("allowed-")}
        heard = self._promises.allowed
        assert heard <= allowed, f"allowed and not on record: {heard - allowed}"
        assert not heard & denied
        assert not self._promises.denied & allowed, "denied, and on record as allowed"
        assert all(words.get(id, "").startswith("allowed-") for id in self._promises.taken), (
            "an operator was told of an allow that is not on record"
        )
        sent = {asked[r.request] for r in records if r.kind == "effect.sent"}
        told = heard | self._promises.denied
        assert sent <= told, f"on record as told to agents that heard nothing: {sent - told}"
        heard.clear()
        self._promises.denied.clear()
        self._promises.taken.clear()


def check_restart(operator: Control, off: Path, promises: Promises) -> list[dict[str, object]]:
    """A new core holds nothing open, allows nothing old, and keeps what was given for good.

    The grants in force.
    """
    assert operator.ask("list") == {"requests": []}
    for id, digest in promises.open.items():
        said = operator.ask("decide", request=id, digest=digest, decision="allow", confirmed=True)
        assert said["refused"] == "unknown_id", said
    promises.open.clear()
    grants: list[dict[str, object]] = operator.ask("grants")["grants"]
    in_force = {str(grant["id"]) for grant in grants}
    assert promises.surely <= in_force, f"grants are lost: {promises.surely - in_force}"
    assert in_force <= promises.maybe, f"grants nobody gave: {in_force - promises.maybe}"
    assert promises.off in (None, off.exists())
    gate = operator.ask("attach", observer=True)["snapshot"]["gate"]
    assert (gate.get("off_until") is not None) == off.exists(), "a switch that nobody is shown"
    return grants

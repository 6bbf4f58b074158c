"""Whatever is done to a journal, in any order: what it says is kept is there, and it verifies."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.service.scribe import Scribe
from watchgate.core.chain.chain_walk import RetentionLimits
from watchgate.core.model.records import Draft
from watchgate.service.journal import journal_reader
from watchgate.service.journal.journal_retention import due_cut
from watchgate.service.journal.schema import open_to_write
from watchgate.service.journal.verification import verify_journal
from watchgate.service.journal.writer import Journal, Pace

DAY_US = 86_400_000_000
PACE = Pace(flush_s=0.001, retry_s=0.001)


class JournalMachine(RuleBasedStateMachine):
    """A core's journal among locks, restarts and retention; a record's time is its number in s."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="wg"))
        self.path = self.folder / "journal.db"
        self.other: sqlite3.Connection | None = None
        self.kept = self.low = self.locked_at = 0
        self.open()

    def open(self) -> None:
        self.journal = Journal.open(
            self.path, pace=PACE, connect=lambda path: open_to_write(path, busy_timeout_s=0)
        )
        assert self.journal.fault is None
        assert self.journal.head.seq >= self.kept
        self.scribe = Scribe(self.journal)

    @rule(count=st.integers(1, 300), text=st.sampled_from(["", "x" * 3_000]))
    def write(self, count: int, text: str) -> None:
        self.scribe.write(count, text=text)

    @rule()
    def decide(self) -> None:
        self.scribe.write(kind="approval.decided")

    @rule()
    def commit(self) -> None:
        done = self.scribe.commit()
        sealed = self.scribe.chain.seq
        if self.other is None:
            assert done
        elif sealed > self.locked_at:
            assert not done, "what came behind the lock cannot be on the disk"
        if done:
            assert journal_reader.ends(self.path)[1] == sealed
            self.kept = sealed

    @precondition(lambda self: self.other is None)
    @rule()
    def lock(self) -> None:
        self.other = sqlite3.connect(self.path, isolation_level=None, timeout=30)
        self.other.execute("BEGIN IMMEDIATE")
        self.locked_at = self.scribe.chain.seq

    @precondition(lambda self: self.other is not None)
    @rule()
    def unlock(self) -> None:
        assert self.other is not None
        self.other.execute("ROLLBACK")
        self.other.close()
        self.other = None

    @precondition(lambda self: self.other is None)
    @rule()
    def restart(self) -> None:
        assert self.journal.close() == 0
        self.kept = self.scribe.chain.seq
        self.open()

    @precondition(lambda self: self.other is None)
    @rule(part=st.floats(0, 1), slices=st.integers(0, 3))
    def let_go(self, part: float, slices: int) -> None:
        """The oldest leave, or some of them before the core ends."""
        self.commit()
        limits = RetentionLimits(max_age_days=1, max_size_mb=16)
        now_us = DAY_US + int(self.kept * part) * 1_000_000 + 1
        found = due_cut(self.path, limits, now_us) if self.kept else None
        if found is None:
            return
        draft = Draft(kind="policy.checkpoint", at=self.kept * 1_000_000, data=found.checkpoint)
        self.journal.append(self.scribe.chain.seal(draft)[1])
        self.commit()
        ends = found.ends[:slices]
        answers: SimpleQueue[str] = SimpleQueue()
        self.journal.remove(ends, answers.put)
        if answers.get(timeout=30) == "" and ends:
            self.low = ends[-1]

    @invariant()
    def is_sound(self) -> None:
        verdict = verify_journal(self.path)
        assert verdict.problem is None
        low, high = journal_reader.ends(self.path)
        assert high >= self.kept
        assert low == (self.low + 1 if high else 1)

    def teardown(self) -> None:
        if self.other is not None:
            self.unlock()
        assert self.journal.close() == 0
        with closing(sqlite3.connect(self.path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert verify_journal(self.path).head.seq == self.scribe.chain.seq
        shutil.rmtree(self.folder)


TestJournal = JournalMachine.TestCase
TestJournal.settings = settings(max_examples=10, stateful_step_count=12, deadline=None)

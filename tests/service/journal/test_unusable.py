"""A core whose journal cannot be used starts all the same, claims nothing, and waits for a mend."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from tests.service.scribe import Scribe, write_history
from watchgate.core.chain.hash_chain import START
from watchgate.core.state.state import State
from watchgate.service.journal import unusable
from watchgate.service.journal.schema import JournalError
from watchgate.service.journal.unusable import UnusableJournal, missed, open_journal, usable_again
from watchgate.service.journal.verification import verify_journal
from watchgate.service.journal.writer import Journal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"
    write_history(path, 200)
    return path


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4_096:] = b"\xaa" * (len(content) - 4_096)
    path.write_bytes(content)


def no_database(path: Path) -> None:
    path.write_bytes(b"once upon a time " * 500)


def no_numbers_left(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE record SET seq = {2**63 - 1} WHERE seq = 200")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (damage, "is damaged"),
        (no_database, "is not a database: move it away"),
        (no_numbers_left, "leaves none for the next"),
    ],
)
def test_a_damaged_journal_has_a_stand_in_that_says_why(
    path: Path, spoil: Callable[[Path], None], words: str
) -> None:
    spoil(path)
    before = path.read_bytes()
    journal, _ = open_journal(path, State)
    assert isinstance(journal, UnusableJournal)
    assert words in journal.lost
    assert path.read_bytes() == before, "evidence stays as it is"


def test_the_stand_in_takes_what_comes_keeps_nothing_and_counts(path: Path) -> None:
    damage(path)
    journal, _ = open_journal(path, State)
    assert isinstance(journal, UnusableJournal)
    assert (journal.head, journal.fault) == (START, None)
    scribe = Scribe(journal)
    rows = [scribe.write(), scribe.write()]
    journal.extend(rows)
    journal.purge(rows[0], [1])
    heard: list[bool] = []
    journal.commit(heard.append)
    assert heard == [False], "no allow may rest on it"
    assert (journal.dropped, journal.close()) == (5, 5)
    assert journal.room > 0, "what is observed goes on"


def others_may_read(path: Path) -> None:
    path.chmod(0o644)


def rebuilt(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (x)")


def of_a_newer_format(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 3")


def of_another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 7")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "spoil", [others_may_read, rebuilt, of_a_newer_format, of_another_program, a_folder]
)
def test_what_is_not_ours_is_refused(path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(path)
    with pytest.raises(JournalError):
        open_journal(path, State)


def test_a_sound_journal_has_no_stand_in(path: Path) -> None:
    journal, _ = open_journal(path, State)
    assert isinstance(journal, Journal)
    journal.close()


async def test_a_journal_of_which_the_start_cannot_be_read_waits_for_a_mend_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unusable, "TRY_EACH_S", 0.001)
    tries = 0

    def remember() -> State:
        nonlocal tries
        tries += 1
        if tries < 4:
            raise JournalError(path, f"is damaged, as try {tries} found")
        return State()

    journal, state = open_journal(path, remember)
    assert isinstance(journal, UnusableJournal)
    assert (state.seq, "is damaged, as try 1 found" in journal.lost) == (0, True)
    with anyio.fail_after(20):
        await usable_again(journal, remember)
    assert (tries, journal.spent) == (4, True)
    assert "is damaged, as try 3 found" in journal.lost


async def test_it_is_tried_again_until_it_was_mended(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unusable, "TRY_EACH_S", 0.001)
    damage(path)
    journal, _ = open_journal(path, State)
    assert isinstance(journal, UnusableJournal)
    damaged = journal.lost
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(usable_again, journal, State)
        no_database(path)
        with anyio.fail_after(20):
            while journal.lost == damaged:  # noqa: ASYNC110 - as the host looks at it
                await anyio.sleep(0.001)
        assert "is not a database" in journal.lost, "what is wrong now is what it says"
        for file in path.parent.glob("journal*"):
            file.rename(path.parent / f"old-{file.name}")
    assert journal.spent
    assert "is not a database" in journal.lost, "no gate opens over a stand-in"
    mended, _ = open_journal(path, State)
    assert (mended.head, mended.fault) == (START, None)
    mended.close()
    assert verify_journal(path).problem is None


def test_the_next_core_tells_what_is_missing() -> None:
    data = missed(7)
    assert data.what == (
        "the journal can be written again; 7 records of the time before are not in it"
    )
    assert data.detail == "ok"

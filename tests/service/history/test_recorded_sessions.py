"""A recorded session is found by what a person calls it, or the error says how to call it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.scribe import committed
from watchgate.core.chain.hash_chain import Chain
from watchgate.core.model.records import Draft, NoteData
from watchgate.core.secrets.redact import Content, journal_json
from watchgate.service.history.recorded_sessions import PastError, find_session, records_of
from watchgate.service.journal.schema import JournalError
from watchgate.service.journal.writer import Journal


def journal_of(
    path: Path, *told: tuple[str | None, str | None, str], content: Content = "commands"
) -> Path:
    """A journal with a note for each agent, session and folder, in this order."""
    journal = Journal.open(path)
    chain = Chain("core-a", journal.head, lambda data: journal_json(data, content))
    for number, (agent, session, cwd) in enumerate(told, 1):
        data = NoteData(native="Note", cwd=cwd)
        draft = Draft(
            kind="session.start", at=number * 1_000_000, data=data, agent=agent, session=session
        )
        journal.append(chain.seal(draft)[1])
    assert committed(journal)
    journal.close()
    return path


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return journal_of(
        tmp_path / "journal.db",
        ("claude", "aaaa-1", "/srv/app/"),
        ("claude", "aaaa-2", ""),
        ("codex", "aaaa-1", "/srv/site"),
        (None, None, ""),
        ("claude", "bbbb-7", "/home/u/app"),
        ("claude", "aaaa-2", "/srv/tools"),
        ("claude", "s1", "/srv/one"),
        (None, None, ""),
    )


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        (None, ("claude", "s1")),
        ("s1", ("claude", "s1")),
        ("bbbb", ("claude", "bbbb-7")),
        ("aaaa-2", ("claude", "aaaa-2")),
        ("codex:aaaa-1", ("codex", "aaaa-1")),
        ("codex:aaaa", ("codex", "aaaa-1")),
        ("site", ("codex", "aaaa-1")),
        ("tools", ("claude", "aaaa-2")),
        ("tools~2", ("claude", "aaaa-2")),
        ("app~aaaa", ("claude", "aaaa-1")),
        ("app~bbbb7", ("claude", "bbbb-7")),
    ],
)
def test_a_session_is_found(journal: Path, word: str | None, meant: tuple[str, str]) -> None:
    assert find_session(journal, word) == meant


@pytest.mark.parametrize(
    ("word", "among"),
    [
        ("aaaa-1", ("claude:aaaa-1", "codex:aaaa-1")),
        ("aaaa", ("claude:aaaa-1", "claude:aaaa-2", "codex:aaaa-1")),
        ("app", ("claude:aaaa-1", "claude:bbbb-7")),
        ("app~2", ("claude:aaaa-1", "claude:bbbb-7")),
    ],
)
def test_what_may_be_several_names_each(journal: Path, word: str, among: tuple[str, ...]) -> None:
    with pytest.raises(PastError, match=f"may be any of {len(among)} sessions") as found:
        find_session(journal, word)
    assert all(f"{each} (began " in str(found.value) for each in among)


@pytest.mark.parametrize("word", ["", "s", "aaa", "none", "gemini:s1", ":", "a:bbbb-7", "x\x1b[m"])
def test_what_is_no_session_says_what_to_write(journal: Path, word: str) -> None:
    with pytest.raises(PastError, match="give its id, 4 characters or more of it") as found:
        find_session(journal, word)
    assert "\x1b" not in str(found.value)


def test_a_whole_id_is_meant_before_the_beginning_of_another(tmp_path: Path) -> None:
    told = (("claude", "abcd", ""), ("claude", "abcdef", ""))
    assert find_session(journal_of(tmp_path / "journal.db", *told), "abcd") == ("claude", "abcd")


def test_an_id_may_hold_a_colon(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "journal.db", ("acp", "host:9", ""), ("host", "9", ""))
    assert find_session(path, "host:9") == ("acp", "host:9")
    assert find_session(path, "acp:host:9") == ("acp", "host:9")


def test_only_so_many_candidates_are_named(tmp_path: Path) -> None:
    told = [("claude", f"many-{number}", "") for number in range(9)]
    path = journal_of(tmp_path / "journal.db", *told)
    with pytest.raises(PastError, match=r"9 sessions: claude:many-8 .* and 4 older") as found:
        find_session(path, "many")
    assert "many-3" not in str(found.value)


def test_the_records_of_a_session_come_oldest_first_and_no_other(journal: Path) -> None:
    assert [record.seq for record in records_of(journal, "claude", "aaaa-2")] == [2, 6]
    assert [record.seq for record in records_of(journal, "codex", "aaaa-1")] == [3]
    assert records_of(journal, "codex", "s1") == []


def test_without_sessions_or_a_journal_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="does not exist yet"):
        find_session(tmp_path / "none.db", None)
    with pytest.raises(PastError, match="no session was recorded yet"):
        find_session(journal_of(tmp_path / "journal.db", (None, None, "")), None)

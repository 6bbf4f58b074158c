"""`costs --follow`: what changes while it goes on, with the sums of afterwards; and the journal."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.cli.money.transcripts import line, transcript, write_prices
from tests.service.scribe import Scribe, committed
from watchgate.cli.money import follow_costs as costs_follow
from watchgate.core.model.records import Draft, NoteData, UsageData
from watchgate.service.journal.writer import Journal

A, B = "aaaaaaaa-1111", "bbbbbbbb-2222"


@pytest.fixture(autouse=True)
def prices() -> None:
    """Prices that are easy to reckon with."""
    write_prices()


def followed(cli: Cli, monkeypatch: pytest.MonkeyPatch, steps: list[Any], *args: str) -> str:
    """What the command prints while these things happen one after the other."""
    left = list(steps)

    def wait() -> bool:
        if not left:
            return False
        left.pop(0)()
        return True

    monkeypatch.setattr(costs_follow, "_wait", wait)
    said = cli("costs", "--follow", *args)
    assert said.code == 0, said.err
    return said.out


def write(path: Path, *lines: str) -> None:
    with path.open("a") as file:
        file.write("".join(lines))


def record(*drafts: Draft) -> None:
    """What a core recorded."""
    path = Path(os.environ["WATCHGATE_STATE_DIR"]) / "journal.db"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    journal = Journal.open(path)
    scribe = Scribe(journal)
    for each in drafts:
        journal.append(scribe.chain.seal(each)[1])
    assert committed(journal)
    assert journal.close() == 0


def used(session: str, **told: Any) -> Draft:
    """A record of usage that an agent told of."""
    agent = told.pop("agent", "claude")
    data = UsageData(native="Told", **told)
    return Draft(kind="usage", at=2_000_000, data=data, agent=agent, session=session)


def begun(session: str, agent: str = "claude") -> Draft:
    """A record that a session began."""
    data = NoteData(native="SessionStart")
    return Draft(kind="session.start", at=1_000_000, data=data, agent=agent, session=session)


def test_the_last_line_of_each_row_is_what_it_adds_up_to_afterwards(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = transcript(A), transcript(B)
    write(first, line(A, "1"))
    torn = line(A, "3", output=900)
    out = followed(
        cli,
        monkeypatch,
        [
            lambda: write(first, line(A, "2"), torn[:80]),
            lambda: None,
            lambda: write(first, torn[80:], line(A, "2", output=700)),
            lambda: write(second, line(B, "1"), line(B, "4", day=3)),
        ],
        "--by", "session", "--json",
    )  # fmt: skip
    lines = [json.loads(each) for each in out.splitlines()]
    assert [(each["session"], each["calls"]) for each in lines] == [(A, 1), (A, 2), (A, 3), (B, 1)]
    last = {each["session"]: each for each in lines}
    assert list(last.values()) == cli("costs", "--by", "session", "--json").lines


def test_a_file_that_is_written_anew_takes_back_what_it_told(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = transcript(A)
    write(path, line(A, "1"), line(A, "2"))
    anew = line(A, "9", model="nova")
    out = followed(cli, monkeypatch, [lambda: path.write_text(anew)], "--by", "agent", "--json")
    lines = [json.loads(each) for each in out.splitlines()]
    assert [(each["source"], each["calls"]) for each in lines] == [
        ("computed", 2),
        ("computed", 0),
        ("unknown", 1),
    ]


def test_a_person_sees_the_table_again_when_it_is_another_one(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = transcript(A)
    write(path, line(A, "1"))
    out = followed(
        cli, monkeypatch, [lambda: None, lambda: write(path, line(A, "2", output=100_000))]
    )
    assert [each for each in out.splitlines() if each.startswith("total")] == [
        "total       1.0 k     100        0        0  $0.002  computed",
        "total       2.0 k   100 k        0        0  $1.00  computed",
    ]


def test_a_cost_told_from_the_start_stands_for_the_sessions_and_is_added_to_no_other(
    cli: Cli,
) -> None:
    write(transcript(A), line(A, "1"))
    record(begun(A), used(A, total_cost_usd=0.5))
    (row,) = cli("costs", "--by", "session", "--json").lines
    assert (row["source"], row["cost_usd"], row["input"]) == ("reported", 0.5, 1000)


def test_a_session_without_files_is_priced_by_what_was_told_of_its_tokens(cli: Cli) -> None:
    told = used("c1", agent="cursor", input=1000, output=100, model="small", ref="1")
    record(begun("c1", "cursor"), told)
    (row,) = cli("costs", "--by", "session", "--json").lines
    assert (row["session"], row["agent"], row["source"]) == ("c1", "cursor", "computed")
    assert (row["cost_usd"], row["input"], row["output"]) == (0.002, 1000, 100)


def test_what_was_told_of_a_session_with_files_is_counted_once(cli: Cli) -> None:
    write(transcript(A), line(A, "1"))
    record(begun(A), used(A, input=1000, output=100, model="small", ref="1"))
    (row,) = cli("costs", "--by", "agent", "--json").lines
    assert (row["calls"], row["input"], row["cost_usd"]) == (1, 1000, 0.002)


def test_what_was_told_gives_way_once_a_file_tells_of_the_session(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(begun(A), used(A, input=700, output=70, model="small", ref="1"))
    steps = [lambda: write(transcript(A), line(A, "1"))]
    out = followed(cli, monkeypatch, steps, "--by", "agent", "--json")
    counts = [(each["calls"], each["input"]) for each in map(json.loads, out.splitlines())]
    assert counts == [(1, 700), (1, 1000)]


def test_a_journal_that_cannot_be_read_is_said_and_the_files_count_all_the_same(
    cli: Cli,
) -> None:
    write(transcript(A), line(A, "1"))
    journal = Path(os.environ["WATCHGATE_STATE_DIR"]) / "journal.db"
    journal.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    journal.write_bytes(b"no database" * 1000)
    said = cli("costs", "--by", "agent", "--json")
    assert (said.code, said.lines[0]["calls"]) == (0, 1)
    assert "journal" in said.err

"""A large input stands in one record of its call; the others of that call refer to it."""

from __future__ import annotations

from typing import Any

import pytest

from watchgate.core.chain.hash_chain import START, Chain
from watchgate.core.model.large_inputs import (
    LARGE_BYTES,
    MAX_HOLDERS,
    Holders,
    has_reference,
    resolved,
)
from watchgate.core.model.records import Draft, Record
from watchgate.core.secrets.redact import Content, journal_json

LARGE = {"content": "x" * LARGE_BYTES}
OTHER = {"content": "y" * LARGE_BYTES}


class Journal:
    """What a chain gave the journal, by number."""

    def __init__(self, content: Content = "commands") -> None:
        self.chain = Chain("core", START, lambda data: journal_json(data, content), Holders())
        self.records: dict[int, Record] = {}
        self.live: dict[int, Record] = {}

    def add(self, kind: str, given: Any = None, call: str = "c1", **more: Any) -> Record:
        """The record as it is kept; `more` are fields of the draft, or of its data."""
        fields = {key: more.pop(key) for key in ("agent", "session") if key in more}
        data = more if given is None else {"tool": {"name": "Write", "input": given}, **more}
        draft = Draft(
            kind=kind, at=1, data=data, call=call, **{"agent": "a", "session": "s", **fields}
        )
        live, row = self.chain.seal(draft)
        self.live[row.seq], self.records[row.seq] = live, row.record()
        return self.records[row.seq]

    def read(self, record: Record) -> dict[str, Any]:
        return resolved(record, self.records.get)


@pytest.fixture
def journal() -> Journal:
    made = Journal()
    made.add("tool.pre", LARGE, gate="held")
    return made


def test_a_later_record_of_the_call_refers_to_it_and_is_read_whole(journal: Journal) -> None:
    asked = journal.add("approval.requested", LARGE)
    assert asked.data["tool"] == {
        "name": "Write",
        "input": {},
        "input_in": 1,
        "input_bytes": 65_550,
    }
    assert journal.live[2].data["tool"]["input"] == LARGE
    assert journal.read(asked) == {"tool": {"name": "Write", "input": LARGE}}


def test_so_does_the_input_before_a_change(journal: Journal) -> None:
    edited = journal.add("approval.requested", OTHER, before=LARGE)
    assert (edited.data["before_in"], edited.data["before_bytes"]) == (1, 65_550)
    assert edited.data["tool"]["input"] == OTHER
    assert journal.read(edited)["before"] == LARGE
    after = journal.add("tool.post", OTHER)
    assert after.data["tool"]["input_in"] == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"call": "c2"},
        {"session": "other"},
        {"agent": "other"},
        {"gate": "held"},
        {"gate": "denied"},
    ],
)
def test_another_call_and_one_that_is_judged_anew_are_kept_whole(
    journal: Journal, fields: dict[str, Any]
) -> None:
    assert not has_reference(journal.add("tool.pre", LARGE, **fields).data)


@pytest.mark.parametrize("gate", ["joined", "carried"])
def test_a_call_that_comes_on_another_lane_as_well_is_kept_once(
    journal: Journal, gate: str
) -> None:
    assert has_reference(journal.add("tool.pre", LARGE, gate=gate).data)


def test_what_fits_is_kept_in_each_record(journal: Journal) -> None:
    small = {"content": "x" * (LARGE_BYTES - 14)}
    for kind in ("tool.pre", "approval.requested"):
        assert journal.add(kind, small).data["tool"]["input"] == small


def test_a_holder_that_was_purged_or_removed_is_not_referred_to(journal: Journal) -> None:
    purged = {"agent": "a", "session": "s"}
    journal.chain.seal(Draft(kind="policy.purged", at=1, data=purged))
    assert not has_reference(journal.add("tool.post", LARGE).data)
    journal = Journal()
    journal.add("tool.pre", LARGE)
    journal.add("policy.checkpoint", removed_to=1)
    assert not has_reference(journal.add("tool.post", LARGE).data)


def test_a_record_that_could_not_be_sealed_holds_nothing(journal: Journal) -> None:
    with pytest.raises(ValueError, match="surrogate"):
        journal.add("tool.pre", OTHER, detail="\ud800")
    journal.add("notice")
    assert not has_reference(journal.add("approval.requested", OTHER).data)


def test_no_more_than_so_many_are_remembered(journal: Journal) -> None:
    for number in range(MAX_HOLDERS):
        journal.add("tool.pre", LARGE, call=f"n{number}")
    assert MAX_HOLDERS == 2_000
    assert not has_reference(journal.add("tool.post", LARGE).data)


@pytest.mark.parametrize("number", [0, -1, 2, 3, 2**70, "1", None, True])
def test_a_reference_from_outside_shows_no_other_calls_input(number: Any) -> None:
    journal = Journal()
    journal.add("tool.pre", LARGE, call="another")
    journal.add("notice")
    forged = journal.add("approval.requested", {}, call="c1")
    data = {"tool": {"name": "Write", "input": {}, "input_in": number, "input_bytes": 9}}
    record = Record(v=1, seq=forged.seq, core="core", at=1, kind="x", call="c1", data=data)
    assert resolved(record, journal.records.get)["tool"]["input"] == {}


def test_of_a_long_line_the_beginning_is_kept_and_of_its_commands_their_number() -> None:
    journal = Journal()
    line = "a" * 100_000
    segments = [{"number": 1, "span": [0, 5], "words": ["b" * 70_000]}]
    kept = journal.add("approval.requested", summary=line, segments=segments).data
    assert kept == {"summary": f"{'a' * 65_536}… 34464 more characters", "segments_count": 1}


def test_a_secret_across_the_end_of_what_is_kept_of_a_line_is_covered() -> None:
    key = "AKIA" + "B" * 16
    kept = Journal().add("approval.requested", summary=f"{'a ' * 32_763}{key}{' a' * 9_000}").data
    assert "AKIA" not in kept["summary"]

"""Records are sealed in order, and each reaches the journal, the state and every console."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.builders import START
from tests.service.desk import Console, Paper
from watchgate.core.chain.hash_chain import START as EMPTY
from watchgate.core.chain.hash_chain import Chain
from watchgate.core.model.records import CoreData, Draft, NoteData, Record
from watchgate.core.state.state import State
from watchgate.service.journal.recorder import RESERVED_ROWS, Recorder
from watchgate.service.system.system_clock import FakeClock


class Desk:
    def __init__(self) -> None:
        self.paper, self.console, self.faults = Paper(), Console(), list[str]()
        chain = Chain("core", EMPTY, lambda data: data)
        self.recorder = Recorder(chain, self.paper, State(), FakeClock(START))
        self.recorder.watchers.add(self.console)

    def seqs(self) -> tuple[list[int], list[int], int]:
        rows = [row.seq for row in self.paper.rows]
        return rows, [record.seq for record in self.console.records], self.recorder.state.seq


def draft(text: str = "hello") -> Draft:
    data = NoteData(native="Stop", text=text)
    return Draft(kind="message", at=START.wall_us, data=data, agent="claude", session="one")


def test_one_and_many_are_recorded_alike() -> None:
    one, many = Desk(), Desk()
    drafts = [draft("a"), draft("b"), draft("c")]
    for each in drafts:
        one.recorder.record(each)
    many.recorder.record_all(list(drafts), many.faults.append)
    assert one.paper.rows == many.paper.rows
    assert one.console.records == many.console.records
    assert one.seqs() == many.seqs() == ([1, 2, 3], [1, 2, 3], 3)


def test_what_was_recorded_together_is_not_recorded_again() -> None:
    desk = Desk()
    drafts = [draft()]
    desk.recorder.record_all(drafts, desk.faults.append)
    desk.recorder.record_all(drafts, desk.faults.append)
    assert (drafts, desk.seqs()) == ([], ([1], [1], 1))


def test_one_that_cannot_be_sealed_is_told_of_after_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk()
    seal = desk.recorder.chain.seal

    def failing(each: Draft) -> Any:
        if each.data.text == "bad":
            raise TypeError("no JSON form")
        return seal(each)

    monkeypatch.setattr(desk.recorder.chain, "seal", failing)
    desk.recorder.record_all([draft("a"), draft("bad"), draft("b")], desk.faults.append)
    assert desk.seqs() == ([1, 2], [1, 2], 2)
    assert len(desk.faults) == 1
    assert "TypeError" in desk.faults[0]


def test_one_that_cannot_be_shown_keeps_no_other_from_being_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk()
    broken, apply = Console(), desk.recorder.state.apply
    desk.recorder.watchers.add(broken)

    def failing(record: Record) -> None:
        if record.seq == 2:
            raise ValueError("of a shape that nobody thought of")
        apply(record)

    def refusing(_record: Record) -> None:
        raise RuntimeError("its window is gone")

    monkeypatch.setattr(desk.recorder.state, "apply", failing)
    monkeypatch.setattr(broken, "offer", refusing)
    desk.recorder.record_all([draft("a"), draft("b"), draft("c")], desk.faults.append)
    assert desk.seqs() == ([1, 2, 3], [1, 2, 3], 3)
    assert [fault.split()[0] for fault in desk.faults] == ["ValueError", *["RuntimeError"] * 3]


def test_a_full_journal_takes_no_observation_and_counts_it() -> None:
    desk = Desk()
    assert desk.recorder.has_room()
    desk.paper.room = RESERVED_ROWS
    assert not desk.recorder.has_room()
    assert not desk.recorder.has_room()
    assert (desk.recorder.take_unrecorded(), desk.recorder.take_unrecorded()) == (2, 0)


def test_the_core_speaks_of_itself_under_its_own_kinds() -> None:
    desk = Desk()
    desk.recorder.about_core("policy.fault", CoreData(what="takes in no connection"))
    desk.recorder.notice("ingest.oversize", "9 bytes dropped")
    desk.recorder.internal_error("KeyError at hub.py:9", "pid 7")
    found = [(r.kind, r.agent, r.data.get("native", "")) for r in desk.console.records]
    assert found == [
        ("policy.fault", None, ""),
        ("notice", None, "ingest.oversize"),
        ("notice", None, "internal.error"),
    ]
    assert "pid 7" in desk.console.records[-1].data["detail"]

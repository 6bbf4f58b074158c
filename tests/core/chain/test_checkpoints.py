from __future__ import annotations

import msgspec
import pytest

from watchgate.core.chain.chain_walk import Checkpoint, before, checkpoint_in, start_problem
from watchgate.core.chain.hash_chain import START, Chain, Head, JournalRow
from watchgate.core.model.records import CheckpointData, Draft, NoteData

HASHES = {seq: f"{seq:064x}" for seq in range(1, 21)}
START_AT_5 = Head(5, HASHES[5])


def sealed(kind: str = "policy.checkpoint") -> JournalRow:
    data = CheckpointData(removed_to=5, hash=HASHES[5], count=5, since=1, until=5, why="too many")
    chain = Chain("core-a", START_AT_5, lambda whole: whole)
    return chain.seal(Draft(kind=kind, at=1, data=data))[1]


def message(start: Head, *checkpoints: Checkpoint) -> str:
    problem = start_problem(start, checkpoints, HASHES.get)
    assert problem is not None
    assert str(problem.seq) in problem.message
    return problem.message


def test_a_checkpoint_is_read_from_its_row_alone() -> None:
    assert checkpoint_in(sealed()) == Checkpoint(6, START_AT_5)
    assert checkpoint_in(sealed("notice")) is None


@pytest.mark.parametrize("data", [None, b"", b"{}", b"[", b"\xff", b'{"removed_to":"5"}'])
def test_a_checkpoint_that_cannot_be_read_is_none(data: bytes | None) -> None:
    assert checkpoint_in(msgspec.structs.replace(sealed(), data=data)) is None


def test_the_oldest_row_says_what_was_before_it() -> None:
    assert before(sealed()) == START_AT_5
    assert before(None) == START
    for seq in (1, 0, -4):
        assert before(msgspec.structs.replace(sealed(), seq=seq)) == START


def test_a_journal_that_is_whole_needs_no_checkpoint() -> None:
    note = Draft(kind="notice", at=1, data=NoteData(native="Note"))
    _, first = Chain("core-a", START, lambda whole: whole).seal(note)
    assert start_problem(before(first), (), HASHES.get) is None


def test_a_checkpoint_lets_go_what_it_names_or_what_a_cut_short_removal_left() -> None:
    for last in (5, 6, 9):
        covering = Checkpoint(12, Head(last, HASHES[last]))
        assert start_problem(START_AT_5, [covering], HASHES.get) is None


def test_of_several_checkpoints_the_widest_counts() -> None:
    older, wide = Checkpoint(7, Head(3, HASHES[3])), Checkpoint(12, START_AT_5)
    assert start_problem(START_AT_5, [older, wide], HASHES.get) is None
    assert message(START_AT_5, older) == (
        "record 4 is missing: the checkpoint in record 7 ends before it"
    )


def test_without_a_checkpoint_the_first_record_is_missing() -> None:
    assert message(START_AT_5) == "record 1 is missing: no checkpoint lets those up to 5 go"


@pytest.mark.parametrize("last", [5, 9])
def test_a_checkpoint_with_another_hash_lets_nothing_go(last: int) -> None:
    assert message(START_AT_5, Checkpoint(12, Head(last, "f" * 64))) == (
        "record 6 is not what followed on the removed records: "
        f"the checkpoint in record 12 names another hash for record {last}"
    )

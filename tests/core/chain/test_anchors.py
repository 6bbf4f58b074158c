from __future__ import annotations

import pytest

from watchgate.core.chain.chain_walk import anchor_of, anchor_text, compared
from watchgate.core.chain.hash_chain import START, Head

HASHES = {seq: f"{seq:064x}" for seq in range(1, 9)}


def test_an_anchor_is_read_as_it_is_printed() -> None:
    head = Head(1_204, "9f" * 32)
    assert anchor_of(f" {anchor_text(head)}\n") == head


@pytest.mark.parametrize(
    "text",
    ["", "12", "12:", ":" + "a" * 64, "0:" + "a" * 64, "1:" + "A" * 64, "1:" + "a" * 63, "-1:aa"],
)
def test_what_is_no_anchor_is_refused_with_where_one_comes_from(text: str) -> None:
    with pytest.raises(ValueError, match="give the SEQ:HASH that `watchgate audit anchor` printed"):
        anchor_of(text)


def test_the_first_anchor_that_does_not_hold_is_the_problem() -> None:
    anchors = [Head(seq, HASHES[seq]) for seq in HASHES]
    assert compared(anchors, START, 8, HASHES.get).problem is None
    changed = {**HASHES, 4: "f" * 64, 6: "f" * 64}
    problem = compared(reversed(anchors), START, 8, changed.get).problem
    assert problem is not None
    assert problem.seq == 4


def test_an_anchor_beyond_the_end_names_the_first_missing_record() -> None:
    problem = compared([Head(8, HASHES[8])], START, 5, lambda _seq: None).problem
    assert problem is not None
    assert problem.seq == 6


def test_an_anchor_of_the_last_removed_record_is_still_compared() -> None:
    start = Head(5, HASHES[5])
    assert compared([start, Head(4, "x")], start, 8, HASHES.get).older == (Head(4, "x"),)
    assert compared([start], start, 8, HASHES.get).problem is None
    assert compared([Head(5, HASHES[6])], start, 8, HASHES.get).problem is not None

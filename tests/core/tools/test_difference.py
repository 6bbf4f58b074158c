"""The lines of a text that become those of another, numbered, folded, and word by word."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.tools.diff_rows import changed_words, folded, numbered
from watchgate.core.tools.edit_blocks import COMPARED_LINES, difference

PEM = "-----BEGIN PRIVATE KEY-----\n" + "A1b/" * 16 + "\n-----END PRIVATE KEY-----"


@given(st.text("ab\n", max_size=60), st.text("ab\n", max_size=60))
def test_both_texts_can_be_read_from_their_difference(before: str, after: str) -> None:
    found = difference(before, after)
    for text, sign in ((before, "-"), (after, "+")):
        assert "\n".join(line for own, line in found if own in (" ", sign)) == text


@pytest.mark.parametrize("lines", [COMPARED_LINES // 2, 20_000])
def test_long_hostile_texts_take_time_in_proportion(lines: int) -> None:
    """Every second line the same: what comparing takes longest for."""
    before, after = (
        "\n".join("x" if at % 2 else f"{name}{at}" for at in range(lines)) for name in "ab"
    )
    assert len(difference(before, after)) >= lines


def test_a_secret_of_several_lines_is_covered_as_a_whole() -> None:
    assert difference("a", PEM) == [("-", "a"), ("+", "<private-key, 118 chars>")]


@given(st.lists(st.sampled_from(" +-"), max_size=60))
def test_folding_leaves_out_unchanged_lines_alone_and_counts_them(signs: list[Any]) -> None:
    rows = numbered([(sign, f"text {at}") for at, sign in enumerate(signs)])
    kept = folded(rows)
    said = sum(int(row.text.split()[0]) for row in kept if row.sign == "@")
    assert len([row for row in kept if row.sign != "@"]) + said == len(rows)
    assert [row for row in kept if row.sign in "+-"] == [row for row in rows if row.sign in "+-"]


def test_the_words_that_differ_are_known_by_their_place() -> None:
    assert changed_words("timeout = 30 s", "timeout = 45 s") == (((10, 12),), ((10, 12),))
    assert changed_words("one thing", "wholly other words") == ((), ())

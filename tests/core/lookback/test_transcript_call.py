"""Which records tell of one and the same call."""

from __future__ import annotations

import pytest

from tests.core.lookback.asking import NOW_US, asked


@pytest.mark.parametrize(
    "call_id",
    ["toolu_01A2b3C4d5E6f7G8h9", "call_9f8e7d6c5b4a39281706", "chatcmpl-tool-0123456789abcdef"],
)
def test_an_id_with_a_long_random_part_is_unique_whatever_the_session_or_time(call_id: str) -> None:
    copy = asked(call_id=call_id, session="fork", at_us=NOW_US + 5)
    assert copy.key == asked(call_id=call_id).key
    assert asked("make", call_id=call_id).key != copy.key


@pytest.mark.parametrize("call_id", ["functions.Bash:3", "call_1", "run_shell_command-1"])
def test_an_id_that_only_counts_needs_the_same_time_as_well(call_id: str) -> None:
    one = asked(call_id=call_id)
    assert asked(call_id=call_id, session="fork").key == one.key
    assert asked(call_id=call_id, at_us=NOW_US + 1).key != one.key


def test_without_an_id_a_call_belongs_to_its_session() -> None:
    assert asked(call_id="", session="a").key != asked(call_id="", session="b").key


def test_of_copies_the_earliest_that_no_sub_agent_replays_is_the_call() -> None:
    copies = [asked(side=True, at_us=1), asked(at_us=0), asked(at_us=9), asked(at_us=5)]
    assert min(copies, key=lambda each: each.rank).at_us == 5

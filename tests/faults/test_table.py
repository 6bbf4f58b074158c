"""The table itself: no cell is an allow, no fault is named twice, and none may close too little."""

from __future__ import annotations

import pytest

from tests.e2e.programs import Finished
from tests.faults.agent import read
from tests.faults.matrix import FAULTS
from tests.faults.words import Component, Fault, Gets, When

EVERY = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.slug)
GOES_ON = {Gets.RECORDED, Gets.UNREAD, Gets.PERHAPS, Gets.DROPPED}


def test_there_is_no_word_for_an_allow() -> None:
    assert not [word for word in (*Gets, *When) if "allow" in word]


@EVERY
def test_a_gate_is_denied_held_or_left_without_any_answer(fault: Fault) -> None:
    assert fault.gate in (Gets.DENIED, Gets.HELD, Gets.KILLED)
    assert (fault.gate is Gets.KILLED) == (fault.when is When.AGENT)


@EVERY
def test_an_observer_always_goes_on(fault: Fault) -> None:
    assert fault.observe in GOES_ON


def test_every_row_has_a_name_of_its_own_and_every_component_a_row() -> None:
    assert len({fault.slug for fault in FAULTS}) == len(FAULTS)
    assert {fault.of for fault in FAULTS} == set(Component)


@pytest.mark.parametrize(
    "out",
    [
        '{"hookSpecificOutput":{"permissionDecision":"allow"}}',
        '{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}',
        '{"decision":"approve"}',
    ],
)
def test_an_allow_would_be_noticed(out: str) -> None:
    with pytest.raises(AssertionError, match="nobody gave that"):
        read("gate", Finished(0, out.encode(), b""))


def test_text_that_is_no_decision_is_no_opinion() -> None:
    assert read("relay", Finished(0, b"{", b"")) is Gets.NO_OPINION


def test_words_of_the_agent_s_own_would_be_noticed() -> None:
    with pytest.raises(AssertionError, match="that is an opinion"):
        read("gate-read", Finished(0, b'{"hookSpecificOutput":{"updatedInput":{}}}', b""))


@pytest.mark.parametrize("done", [Finished(0, b"{", b""), Finished(2, b"", b"")])
def test_an_observer_that_says_anything_would_be_noticed(done: Finished) -> None:
    with pytest.raises(AssertionError, match="an observer says nothing"):
        read("observe", done)

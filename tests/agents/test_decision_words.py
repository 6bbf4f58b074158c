"""Every system's words for a decision have one meaning, and nothing is told wider than decided."""

from __future__ import annotations

from typing import get_args

import pytest

from watchgate.agents.decision_words import WORDS, Meaning, System, decided, meaning, word

SYSTEMS: tuple[System, ...] = get_args(System)


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_word_comes_back_as_what_it_means(system: System) -> None:
    for text, meant in WORDS[system].items():
        assert meaning(system, text) is meant
        assert meaning(system, word(system, meant)) is meant


@pytest.mark.parametrize("meant", Meaning)
@pytest.mark.parametrize("system", SYSTEMS)
def test_what_a_system_is_told_never_allows_more_than_is_meant(
    system: System, meant: Meaning
) -> None:
    told = meaning(system, word(system, meant))
    assert told is not None
    if not meant.allows:
        assert not told.allows
    if meant is Meaning.ALLOW:
        assert told is Meaning.ALLOW or not told.allows


def test_each_system_can_be_told_a_denial() -> None:
    assert {system: Meaning.DENY in table.values() for system, table in WORDS.items()} == (
        dict.fromkeys(SYSTEMS, True)
    )


def test_what_a_system_has_no_word_for_is_told_narrower() -> None:
    assert word("sandbox-status", Meaning.ALLOW_ALWAYS) == "accept_for_session"
    assert word("synaps", Meaning.ALLOW_SESSION) == "continue"
    assert word("synaps", Meaning.ABORT) == "block"
    assert word("codewhale-runtime", Meaning.MODIFY) == "deny", "an edited call cannot be told"


def test_sa_19_two_spellings_of_a_status_mean_the_same() -> None:
    for older, later in (("approved", "accept"), ("denied", "reject")):
        assert meaning("sandbox-status", older) is meaning("sandbox-status", later)
    assert meaning("sandbox-status", "accept_for_session") is Meaning.ALLOW_SESSION
    assert meaning("sandbox-status", "requested") is Meaning.ASKED


@pytest.mark.parametrize("said", [None, "", "perhaps", 1, {"allow": True}])
@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_no_decision_denies(system: System, said: object) -> None:
    assert decided(system, said) is Meaning.DENY


def test_a_question_is_not_taken_for_its_answer() -> None:
    assert decided("sandbox-status", "requested") is Meaning.DENY
    assert decided("sandbox-status", "accept_for_session") is Meaning.ALLOW_SESSION

"""A record that claims an operator claims what was proven and no more."""

from __future__ import annotations

import pytest

from watchgate.core.model.outcomes import counter_of, shown_word

SOMEBODY = "somebody (pid 50, unproven)"
ANN = "operator ann (console 2, pin)"


@pytest.mark.parametrize(
    ("word", "by", "shown"),
    [
        ("denied-by-operator", ANN, "denied-by-operator"),
        ("denied-by-operator", SOMEBODY, "denied"),
        ("allowed-by-operator", "program etl (token)", "allowed"),
        ("denied-by-rule", "watchgate", "denied-by-rule"),
        ("denied-by-timeout", "nobody", "denied-by-timeout"),
    ],
)
def test_only_who_was_proven_is_called_an_operator(word: str, by: str, shown: str) -> None:
    assert shown_word(word, by) == shown


def test_a_denial_of_somebodys_is_not_counted_as_yours() -> None:
    assert counter_of("denied-by-operator", ANN) == "denied_by_operator"
    assert counter_of("denied-by-operator", SOMEBODY) == "denied_other"
    assert counter_of("denied-by-timeout", "nobody") == "denied_by_timeout"

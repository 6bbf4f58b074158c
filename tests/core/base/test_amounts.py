"""Money and counts as everybody writes them."""

from __future__ import annotations

import pytest

from watchgate.core.base import amounts


@pytest.mark.parametrize(
    ("usd", "shown"),
    [(1.84, "$1.84"), (0.004, "$0.004"), (0.0, "$0.00"), (1182.5, "$1,182.50"), (None, "?")],
)
def test_money_is_never_zero_when_it_is_unknown(usd: float | None, shown: str) -> None:
    assert amounts.money(usd) == shown


@pytest.mark.parametrize(
    ("usd", "shown"),
    [
        (0.012, "$0.012"), (0.9994, "$0.999"), (0.9996, "$1.00"), (1.84, "$1.84"),
        (0.004, "$0.004"), (0.0, "$0.00"), (None, "?"),
    ],
)  # fmt: skip
def test_a_call_shows_a_tenth_of_a_cent(usd: float | None, shown: str) -> None:
    assert amounts.part_money(usd) == shown


@pytest.mark.parametrize("usd", [0.000_499, 1e-9])
def test_what_cost_next_to_nothing_is_never_shown_as_nothing(usd: float) -> None:
    assert amounts.money(usd) == amounts.part_money(usd) == "<$0.001"


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (None, "?"),
        (812, "812"),
        (38_400, "38.4 k"),
        (402_000, "402 k"),
        (999_500, "1.00 M"),
        (1_210_000, "1.21 M"),
        (12_400_000, "12.4 M"),
        (2_591_567_195, "2.59 G"),
    ],
)
def test_tokens_take_three_digits_or_so(number: int | None, shown: str) -> None:
    assert amounts.tokens(number) == shown


def test_a_count_stands_with_its_noun() -> None:
    assert amounts.plural(1, "session") == "1 session"
    assert amounts.plural(1182, "call") == "1,182 calls"

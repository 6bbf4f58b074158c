"""Redacting takes no longer than one text may; what is not looked at by then is covered whole."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from watchgate.core.base.patterns import allowance
from watchgate.core.secrets.redact import coverable, journal_json, redact, redact_all

MIB = 1 << 20
KEY = "AKIA" + "A" * 16


@pytest.fixture
def slow_clock() -> Iterator[None]:
    """Each look at the clock takes a millisecond of processor time."""
    now_ns = iter(range(0, 10**15, 1_000_000))
    allowance.measure_by(lambda: next(now_ns))
    yield
    allowance.measure_by(None)


def test_a_text_that_takes_too_long_is_covered_whole(slow_clock: None) -> None:
    text = f"{KEY} " + "eyJa-" * MIB

    assert redact(text) == f"<unread-text, {len(text)} chars>"


def test_so_are_all_texts_of_a_record_that_come_behind_it(slow_clock: None) -> None:
    data = {"text": "eyJa-" * MIB, "tool": {"input": {"a": "token=abcdefgh"}}}

    found = msgspec.json.decode(journal_json(data, "full"))

    assert found["text"] == f"<unread-text, {5 * MIB} chars>"
    assert found["tool"]["input"]["a"] == "<unread-text, 14 chars>"


def test_a_short_one_is_read_as_ever(slow_clock: None) -> None:
    assert redact(f"x {KEY}") == "x <aws-key, 20 chars>"
    assert redact_all({"a": ["no secret"]}) == {"a": ["no secret"]}


def test_nothing_that_runs_hides_behind_a_text_covered_whole(slow_clock: None) -> None:
    assert coverable("eyJa-" * MIB, starts=(5,)) == []


@pytest.mark.parametrize("start", [65_520, 65_536, 81_900, 131_060])
def test_a_secret_on_the_edge_of_a_piece_is_found(start: int) -> None:
    text = "x " * (start // 2) + KEY + " y" * 50_000

    assert redact(text) == text.replace(KEY, "<aws-key, 20 chars>")


def test_a_secret_longer_than_a_piece_is_covered_to_its_end() -> None:
    value = "a1" * 100_000

    assert redact(f"password={value} x") == f"password=<password, {len(value)} chars> x"

"""Patterns that meet text from outside: which engine runs them, and which are refused."""

from __future__ import annotations

import re
from typing import cast

import pytest

from watchgate.core.base.patterns import pattern
from watchgate.core.base.patterns.allowance import AllowanceSpent
from watchgate.core.base.patterns.pattern import Pattern, PatternFault


class Forbidden:
    """Stands for Python's engine where it must not be asked."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError("asked Python's engine")


@pytest.mark.parametrize(
    ("source", "unit", "times"),
    [
        ("(a+)+$", "a", 60),
        ("^(?:a|a)*$", "a", 60),
        ("(?:a?){30}a{30}$", "a", 40),
        (r"^(?:\w+\s?)*$", "word ", 20),
        (r"\s*\s*\s*\s*x", " ", 500),
        ("a*a*a*a*b", "a", 500),
        (".*foo.*bar", "foo", 3_000),
        (r"\beyJ[\w-]{8,}\.", "eyJa-", 3_000),
        (r"(x+x+)+y", "x", 100),
    ],
)
def test_what_would_take_long_is_not_for_pythons_engine(source: str, unit: str, times: int) -> None:
    made = Pattern(source)
    made._compiled = cast("re.Pattern[str]", Forbidden())
    assert made.search(unit * times + "!") is False


@pytest.mark.parametrize(
    ("source", "unit", "times"),
    [
        (r"(?<![\w-])eyJ[\w-]{8,}\.", "eyJa-", 12_000),
        (r"\bgh[pousr]_[A-Za-z0-9]{20,}", "ghp_", 12_000),
        (r"\bgit\b[^;|&\n]{0,99}\bpush\b", "git status ", 40),
        ("^a*b", "a", 60_000),
    ],
)
def test_what_cannot_take_long_is_for_pythons_engine(
    monkeypatch: pytest.MonkeyPatch, source: str, unit: str, times: int
) -> None:
    made = Pattern(source)
    monkeypatch.setattr(Pattern, "_scan", Forbidden())
    text = unit * times
    assert made.search(text) is (re.search(source, text) is not None)


def test_where_it_stands_is_told_and_of_a_long_text_that_it_is_found() -> None:
    made = Pattern(".*foo.*bar$")
    assert made.span("x foo bar") == (0, 9)
    assert made.span("nothing") is None
    long = "foo" * 3_000 + "bar!"
    assert Pattern(".*foo.*bar").span(long) == (0, len(long))


def test_of_a_text_that_is_too_long_nothing_is_known() -> None:
    assert pattern.MAX_CHARS == 65_536
    assert Pattern("b").search("a" * 65_536) is False
    with pytest.raises(AllowanceSpent):
        Pattern("b").search("a" * 65_537)


@pytest.mark.parametrize("source", [r"(a|b)*(\w+)\2", "(?>a*b?)*a*+a*+a*c", "(?:a{300}){300}"])
def test_a_pattern_that_nothing_can_run_in_time_is_refused(source: str) -> None:
    with pytest.raises(PatternFault, match=r"may take for ever.*\{0,20\}"):
        Pattern(source).refuse_unbounded()


@pytest.mark.parametrize("source", ["(a+)+$", r"(?!x).*\b", r"s(.).*\1", "a*+b", "(?>a|b)c"])
def test_all_else_may_be_used(source: str) -> None:
    Pattern(source).refuse_unbounded()


@pytest.mark.parametrize("source", ["(", "[", "a{99999999999}", "(?<=a*)b"])
def test_what_is_no_regular_expression_is_refused(source: str) -> None:
    with pytest.raises(PatternFault, match="is no regular expression"):
        Pattern(source)

"""The automaton finds what Python's engine finds, for any pattern and any text."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.base.patterns import allowance
from watchgate.core.base.patterns.automaton import NoAutomaton, Scanner
from watchgate.core.base.patterns.pattern import held, needed, written
from watchgate.core.base.patterns.regex_tree import parsed

How = Literal["search", "match", "fullmatch"]
WAYS: tuple[How, ...] = ("search", "match", "fullmatch")
LETTERS = "aabAB_-xé\u2003\u212a \n"

atoms = st.sampled_from(
    ["a", "b", "ab", ".", r"\w", r"\W", r"\s", r"\S", r"\d", "[ab]", "[^a]", "é", "K", "x", "-"]
)
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("(?:{0[0]}|{0[1]})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "{2}", "{0,2}", "{1,3}?"])).map(
            "(?:{0[0]}){0[1]}".format
        ),
        st.tuples(st.sampled_from(["^", "$", r"\b", r"\B", r"\A"]), inner).map("".join),
        st.tuples(inner, st.sampled_from(["$", r"\b", r"\Z"])).map("".join),
        st.tuples(st.sampled_from(["?=", "?!"]), inner, inner).map("({0[0]}{0[1]}){0[2]}".format),
        st.tuples(st.sampled_from(["?<=", "?<!"]), atoms, inner).map("({0[0]}{0[1]}){0[2]}".format),
    ),
    max_leaves=8,
)


@given(
    patterns,
    st.sampled_from([0, re.IGNORECASE, re.DOTALL, re.MULTILINE, re.ASCII]),
    st.lists(st.text(LETTERS, max_size=9), min_size=1, max_size=6),
)
def test_it_finds_what_pythons_engine_finds(source: str, flags: int, texts: list[str]) -> None:
    node = parsed(source, flags)
    scanner, engine = Scanner(node), re.compile(source, flags)
    for text in texts:
        for how in WAYS:
            found = getattr(engine, how)(text) is not None
            assert scanner.finds(text, how) is found, (text, how)
            if found:
                assert all(any(w in text.lower() for w in words) for words in needed(node))


@given(st.text("ab/,-é\\", max_size=12))
@pytest.mark.parametrize(
    "source",
    [
        r"s([^\w\s\\])(?:(?!\1)[^\\]|\\.)*\1(?:(?!\1)[^\\]|\\.)*\1",
        r"(?:a(?P<end>[/,-])b*(?P=end))+",
        r"([ab])x?\1?",
    ],
)
def test_a_character_that_comes_again_is_the_same(source: str, text: str) -> None:
    node = parsed(source)
    group = held(node)
    assert group is not None
    scanner = Scanner(written(node, sorted(set(filter(group.test(), text)))))
    for how in WAYS:
        assert scanner.finds(text, how) is (getattr(re, how)(source, text) is not None)


@pytest.mark.parametrize(
    "source", [r"(a+)\1", r"(a)?(?(1)b|c)", "(?>a|ab)c", "a*+a", r"(?:(a)|\1b)+"]
)
def test_what_no_automaton_can_tell_has_none(source: str) -> None:
    node = parsed(source)
    assert held(node) is None
    with pytest.raises(NoAutomaton):
        Scanner(node)


def test_what_is_worked_out_once_for_a_pattern_takes_nothing_from_a_text() -> None:
    now_ns = iter(range(0, 10**12, 10_000_000))
    allowance.measure_by(lambda: next(now_ns))
    try:
        with allowance.one_text():
            with allowance.uncounted():
                for _ in range(10):
                    next(now_ns)
            allowance.check()
        with allowance.one_text():
            for _ in range(10):
                next(now_ns)
            with pytest.raises(allowance.AllowanceSpent):
                allowance.check()
    finally:
        allowance.measure_by(None)


def test_it_stops_when_the_time_is_over() -> None:
    now = iter(range(0, 10**12, 10_000_000))
    scanner = Scanner(parsed("(?:a|b)*c"))
    allowance.measure_by(lambda: next(now))
    try:
        with allowance.one_text(), pytest.raises(allowance.AllowanceSpent):
            scanner.finds("ab" * 50_000, "search")
    finally:
        allowance.measure_by(None)

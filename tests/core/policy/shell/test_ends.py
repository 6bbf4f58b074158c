"""Texts that end in the middle of something are opaque, and never an error of the reader."""

from __future__ import annotations

import itertools

import pytest

from watchgate.core.policy.judging.command_finder import commands

PIECES = (
    "a",
    "|",
    "!",
    "&&",
    ";",
    "$(",
    "${x",
    "<<E",
    ">",
    "{",
    "if a",
    "do b",
    "case x in",
    "-x ",
)


@pytest.mark.parametrize("last", ["!", "! ", "|!", "|! ", "do timeout 5 -exec a |!"])
@pytest.mark.parametrize("first", ["", "/", "/do timeout 5 -exec a "])
def test_a_sign_at_the_very_end_is_read_to_the_end(first: str, last: str) -> None:
    assert isinstance(commands(first + last).opaque, bool)


@pytest.mark.parametrize("first", PIECES)
def test_no_cut_of_a_text_breaks_the_reader(first: str) -> None:
    for second, third in itertools.product(PIECES, PIECES):
        for glue in ("", " "):
            found = commands(glue.join((first, second, third)))
            assert found.opaque == bool(found.why)

"""A word is found where one begins so, and the index of history cuts words in the same way."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from watchgate.core.filters.filter_parser import NeedleWords, needle_words, text_matcher

ALPHABET = st.sampled_from("aAbß9_-. \u00e4\u0130K\u212a\u00b6\n\x00")
TEXTS = st.text(ALPHABET, max_size=24)


@pytest.mark.parametrize("text", ["push", "--push", "git.push", "pushed", "GIT_PUSH", "\u201epush"])
def test_a_word_is_found_where_one_begins_so(text: str) -> None:
    # A quotation mark that is not ASCII counts as a letter.
    assert text_matcher("push")(text) is (text[0] != "\u201e")


@pytest.mark.parametrize("text", ["gitpush", "7push", "\u00e4push", "pus"])
def test_a_word_is_not_found_inside_of_another_unless_anywhere(text: str) -> None:
    assert not text_matcher("push")(text)
    assert text_matcher("push", anywhere=True)(text) is (text != "pus")


def test_what_begins_with_no_letter_is_found_wherever_it_stands() -> None:
    assert text_matcher("--force")("push--forced")
    assert text_matcher(".py")("main.py")
    assert text_matcher("")("")


def test_the_words_of_a_needle() -> None:
    assert needle_words("git push --fo") == NeedleWords(("git", "push"), "fo")
    assert needle_words("(rm)") == NeedleWords(("rm",))
    assert needle_words("--") == NeedleWords()


@given(TEXTS, TEXTS)
def test_it_is_found_where_it_stands_and_no_letter_stands_before_it(needle: str, text: str) -> None:
    folded, wanted = text.casefold(), needle.casefold()

    def letter(char: str) -> bool:
        return char > "\x7f" or char.isalnum()

    places = [at for at in range(len(folded) + 1) if folded.startswith(wanted, at)]
    begins = [
        at for at in places if not (wanted and letter(wanted[0]) and at and letter(folded[at - 1]))
    ]
    assert text_matcher(needle)(text) is bool(begins)
    assert text_matcher(needle, anywhere=True)(text) is bool(places)


@pytest.fixture(scope="module")
def words() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute("CREATE VIRTUAL TABLE words USING fts5(text, detail=none, tokenize='ascii')")
        yield made


@settings(max_examples=200)
@given(TEXTS, TEXTS, TEXTS)
def test_whatever_is_found_has_the_words_that_the_index_is_asked_for(
    words: sqlite3.Connection, before: str, needle: str, after: str
) -> None:
    text = before + needle + after
    asked = needle_words(needle)
    terms = [
        *(f'"{word}"' for word in asked.whole),
        *([f'"{asked.begun}"*'] if asked.begun else []),
    ]
    if not terms or not text_matcher(needle)(text):
        return
    words.execute("DELETE FROM words")
    words.execute("INSERT INTO words VALUES (?)", (text.casefold(),))
    assert words.execute("SELECT count(*) FROM words(?)", (" AND ".join(terms),)).fetchone() == (1,)

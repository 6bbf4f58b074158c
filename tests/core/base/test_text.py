"""Text from outside: nothing hides, nothing is obeyed, and marks stay where they belong."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.base.text import MARKS_SHOWN, hidden_spans, safe_lines, safe_text, visible


def _escaped(code_points: str) -> str:
    return "".join(f"<U+{each}>" for each in code_points.split())


ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("git status", "git status"),
        ("a\nb", "a\\nb"),
        ("a\tb", "a\\tb"),
        ("\x1b]52;c;aGk=\x07", "<U+001B>]52;c;aGk=<U+0007>"),
        ("\x9b2J", "<U+009B>2J"),
        ("\x7f", "<U+007F>"),
        ("x\r\ny", "x<U+000D>\\ny"),
        ("ls \u202egpj", "ls <U+202E>gpj"),
        ("a\u200bb", "a<U+200B>b"),
        ("\u2066x\u2069", "<U+2066>x<U+2069>"),
        ("\u2028\u2029", "<U+2028><U+2029>"),
        ("\U000e0041", "<U+E0041>"),
        ("\ufe0f\U000e0100", "<U+FE0F><U+E0100>"),
        ("\u115f\u1160\u3164\uffa0\u17b4", "<U+115F><U+1160><U+3164><U+FFA0><U+17B4>"),
        ("\ud800", "<U+D800>"),
        ("\ufeff\xad", "<U+FEFF><U+00AD>"),
        ("./deploy\xa0--dry-run", "./deploy<U+00A0>--dry-run"),
        (
            "\u1680\u2000\u2003\u200a\u202f\u205f\u3000",
            _escaped("1680 2000 2003 200A 202F 205F 3000"),
        ),
        ("\ue000\uf8ff\U000f0000\U0010fffd", _escaped("E000 F8FF F0000 10FFFD")),
        ("\u0378\u2fe0\U0003ffff", _escaped("0378 2FE0 3FFFF")),
        ("naïve 日本 🦀", "naïve 日本 🦀"),
    ],
)
def test_ap_12_what_cannot_be_seen_becomes_a_visible_escape(text: str, shown: str) -> None:
    assert safe_text(text) == shown
    assert visible(text).text == shown


@given(ANY_TEXT)
def test_ap_12_no_control_format_or_surrogate_character_is_left(text: str) -> None:
    shown = safe_text(text)
    unseen = {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}
    assert not {unicodedata.category(char) for char in shown} & unseen
    assert {char for char in shown if unicodedata.category(char) == "Zs"} <= {" "}
    shown.encode()


@given(ANY_TEXT)
def test_a_safe_text_is_not_changed_again(text: str) -> None:
    assert safe_text(safe_text(text)) == safe_text(text)


def test_markup_is_left_as_it_is() -> None:
    assert safe_text("ls [a-z]* [@click=app.quit]x[/]") == "ls [a-z]* [@click=app.quit]x[/]"


def test_lines_are_split_before_they_are_made_safe() -> None:
    assert safe_lines("a\nb\tc\r\nd\re") == ["a", "b\\tc", "d<U+000D>e"]


def test_hidden_spans_leave_newlines_and_tabs_out() -> None:
    assert hidden_spans("a\n\tb\u200b\x00") == [(4, 5), (5, 6)]


def test_the_escapes_are_located() -> None:
    shown = visible("a\nb\u200b")
    assert shown.text == "a\\nb<U+200B>"
    assert shown.hidden == ((1, 3), (4, 12))


@pytest.mark.parametrize(
    ("span", "piece"),
    [((0, 2), "rm"), ((3, 6), "-rf"), ((7, 9), "<U+200B>x"), ((2, 3), "\\n"), ((0, 9), None)],
)
def test_a_span_of_the_original_is_found_again(span: tuple[int, int], piece: str | None) -> None:
    shown = visible("rm\n-rf \u200bx")
    start, end = shown.map(span)
    assert shown.text[start:end] == (shown.text if piece is None else piece)


@given(ANY_TEXT, st.data())
def test_a_mapped_span_shows_exactly_its_own_piece(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    shown = visible(text)
    first, last = shown.map((start, end))
    assert shown.text[first:last] == safe_text(text[start:end])


def test_more_marks_on_one_letter_than_any_script_has_are_escaped() -> None:
    stacked = "a" + "\u0301" * 600
    assert MARKS_SHOWN == 5
    assert safe_text(stacked) == "a" + "\u0301" * 5 + "<U+0301>" * 595
    assert len(hidden_spans(stacked)) == 595
    assert visible(stacked).text == safe_text(stacked)


@pytest.mark.parametrize("text", ["שָׁלֹ֑ום", "ที่นี่", "བསྒྲུབས", "Ệ e\u0302\u0301", "नमस्ते"])
def test_marks_as_scripts_have_them_are_left_alone(text: str) -> None:
    assert safe_text(text) == text

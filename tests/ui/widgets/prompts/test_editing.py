"""Editing a call on the screen: which lines changed, and what the hands do."""

from __future__ import annotations

import pytest

from watchgate.ui.widgets.prompts.edit_prompt import line_changes
from watchgate.ui.widgets.prompts.text_editing import EditText


def test_changed_lines_have_their_place_in_the_text_they_are_of() -> None:
    changes = list(line_changes("cd app\nrm -r a\nls", "cd app\nrm -r b\nls"))
    assert changes == [
        (" ", 0, "cd app"),
        ("-", 7, "rm -r a"),
        ("+", 7, "rm -r b"),
        (" ", 15, "ls"),
    ]


def test_an_edit_keeps_every_character_and_shows_the_hidden_ones() -> None:
    text = EditText("a\u200bb", 3).typed("c")
    assert text.text == "a\u200bbc"
    assert text.rows(40)[0] == ["a<U+200B>bc "]


def test_text_is_put_in_where_the_cursor_stands() -> None:
    text: EditText | None = EditText("npm run", 7)
    for name in ("home", "right", "right", "right"):
        assert text
        text = text.key(name)
    assert text
    assert text.typed("x").text == "npmx run"


def test_a_paste_keeps_its_lines() -> None:
    assert EditText("").typed("a\r\nb").text == "a\nb"


def test_editing_keys_work_across_lines() -> None:
    text = EditText("ab\ncd", 3)
    assert text.key("backspace") == EditText("abcd", 2)
    assert text.key("up") == EditText("ab\ncd", 0)
    assert EditText("ab\ncd", 1).key("down") == EditText("ab\ncd", 4)
    assert EditText("ab\ncd", 4).key("home") == EditText("ab\ncd", 3)
    assert EditText("ab\ncd", 4).key("ctrl+u") == EditText("ab\nd", 3)
    assert EditText("ab", 2).key("ctrl+j") == EditText("ab\n", 3)
    assert EditText("ab", 2).key("f5") is None


@pytest.mark.parametrize("at", range(9))
def test_the_cursor_is_always_on_one_of_the_rows(at: int) -> None:
    rows, (row, start, end) = EditText("abcdef\n\u202e", at).rows(3)
    assert rows[row][start:end]


def test_a_secret_is_drawn_as_what_it_is_until_it_was_told() -> None:
    key = "AKIA" + "IOSFODNN7ABCDEFG"
    text = EditText(f"aws {key} x", 6)
    rows, (row, start, end) = text.rows(60, bare=False)
    assert key not in rows[0]
    assert rows[0].startswith("aws <aws-key, 20 chars> x")
    assert rows[row][start:end] == "<aws-key, 20 chars>"
    assert text.rows(60)[0][0].startswith(f"aws {key} x")
    assert text.typed("").text == f"aws {key} x"

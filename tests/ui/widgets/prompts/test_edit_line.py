"""A line of text under the operator's hands."""

from __future__ import annotations

import pytest

from watchgate.ui.base.theme import DARK
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.prompts.text_editing import LONGEST, EditLine


@pytest.mark.parametrize(
    ("name", "text", "at"),
    [
        ("left", "use make", 7),
        ("right", "use make", 8),
        ("home", "use make", 0),
        ("end", "use make", 8),
        ("backspace", "use mak", 7),
        ("delete", "use make", 8),
        ("ctrl+u", "", 0),
        ("ctrl+k", "use make", 8),
        ("ctrl+w", "use ", 4),
    ],
)
def test_editing_keys(name: str, text: str, at: int) -> None:
    assert EditLine("use make", 8).key(name) == EditLine(text, at)


def test_other_keys_edit_nothing() -> None:
    assert EditLine("x", 1).key("f5") is None


def test_text_is_put_in_at_the_cursor() -> None:
    assert EditLine("use make", 4).typed("g") == EditLine("use gmake", 5)


def test_pasted_lines_become_one_and_hidden_characters_visible() -> None:
    assert EditLine().typed("a\r\nb\n").text == "a b"
    assert EditLine().typed("\x1b]0;x\x07\u202e").text == "<U+001B>]0;x<U+0007><U+202E>"
    assert len(EditLine().typed("x" * 9_999).text) == LONGEST


def test_the_cursor_stays_in_sight() -> None:
    text = "abcdefghij" * 5
    for at in (0, 25, 50):
        line = StyledLine(DARK)
        first = EditLine(text, at).onto(line, 12)
        assert line.left_cells <= 12
        assert first <= at <= first + 11

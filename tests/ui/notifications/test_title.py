"""The terminal's title: the most urgent thing, in words of our own."""

from __future__ import annotations

from watchgate.ui.notifications.terminal_sequences import set_title, title


def test_the_title_carries_what_waits() -> None:
    assert title(0, lost=False, off=False) == "watchgate"
    assert title(2, lost=False, off=False) == "(2) watchgate"


def test_what_is_wrong_comes_first() -> None:
    assert title(2, lost=False, off=True) == "watchgate: GATE OFF"
    assert title(2, lost=True, off=True) == "watchgate: core lost"


def test_it_is_written_as_one_sequence() -> None:
    assert set_title("watchgate") == "\x1b]0;watchgate\x07"

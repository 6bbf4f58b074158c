"""What an edit changes, and what became of an input that somebody rewrote."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.requests import data, pending
from watchgate.core.events import Tool
from watchgate.ui.theming.palettes import DARK
from watchgate.ui.widgets.diff.changes import COMPARED_LINES, changes, difference, rewritten
from watchgate.ui.widgets.request.lines import request_lines
from watchgate.ui.widgets.request.sheet import Sheet

KEY = "AKIA" + "ABCDEFGH12345678"
PEM = "-----BEGIN PRIVATE KEY-----\n" + "A1b/" * 16 + "\n-----END PRIVATE KEY-----"


def page(**facts: Any) -> str:
    sheet = Sheet(100, DARK)
    lines = request_lines(pending(**facts), None, sheet)
    return "\n".join(line.strip(100).text.rstrip() for line in lines)


def test_an_edited_command_shows_what_was_sent_and_what_would_run() -> None:
    asked = data("rm -r build", before={"command": "rm -rf /"}, edited_from="b7c2xxxx")
    assert rewritten(asked) == [("-", "rm -rf /"), ("+", "rm -r build")]
    text = page(command="rm -r build", before={"command": "rm -rf /"}, edited_from="b7c2xxxx")
    assert "  rewritten: you edited #b7c2" in text
    assert "  - rm -rf /\n  + rm -r build\n" in text


def test_a_handlers_rewrite_shows_other_fields_too() -> None:
    asked = data(
        "ls",
        tool=Tool("Bash", "Bash", "shell", {"command": "ls", "sandbox": False}, "h"),
        before={"command": "ls", "sandbox": True},
    )
    assert rewritten(asked) == [
        (" ", "ls"),
        (" ", "{"),
        ("-", '  "sandbox": true'),
        ("+", '  "sandbox": false'),
        (" ", "}"),
    ]
    assert "rewritten: not as it was sent" in page(before={"command": "x"})


def test_nothing_is_told_of_an_input_that_runs_as_it_was_sent() -> None:
    assert rewritten(data()) == []
    assert "rewritten" not in page()


def test_another_secret_is_a_change_although_both_are_covered() -> None:
    found = difference(f"use {KEY}", f"use {KEY[:-1]}9")
    assert [sign for sign, _ in found] == ["-", "+"]
    text = page(command="ls", before={"command": f"use {KEY}"})
    assert KEY not in text
    assert "- use <aws-key, 20 chars>" in text


def test_a_secret_of_several_lines_is_covered_in_an_edit() -> None:
    edit = Tool("Edit", "Edit", "edit", {"file_path": "k", "new_string": f"{PEM}\nx"}, "h")
    assert changes(edit) == [("+", "<private-key, 118 chars>"), ("+", "x")]
    assert len(changes(edit, bare=True)) == 4
    assert difference("a", PEM) == [("-", "a"), ("+", "<private-key, 118 chars>")]


def test_an_edit_keeps_the_lines_that_stay_around_those_that_change() -> None:
    old, new = "steps:\n- uv build\n- up\n", "steps:\n- uv build -q\n- up\n"
    edit = Tool("Edit", "Edit", "edit", {"old_string": old, "new_string": new}, "h")
    assert changes(edit) == [
        (" ", "steps:"),
        ("-", "- uv build"),
        ("+", "- uv build -q"),
        (" ", "- up"),
    ]


@given(st.text("ab\n", max_size=60), st.text("ab\n", max_size=60))
def test_both_texts_can_be_read_from_their_difference(before: str, after: str) -> None:
    found = difference(before, after)
    for text, sign in ((before, "-"), (after, "+")):
        assert "\n".join(line for own, line in found if own in (" ", sign)) == text


@pytest.mark.parametrize("lines", [COMPARED_LINES // 2, 20_000])
def test_long_hostile_texts_take_time_in_proportion(lines: int) -> None:
    """Every second line the same: what comparing takes longest for."""
    before, after = (
        "\n".join("x" if at % 2 else f"{name}{at}" for at in range(lines)) for name in "ab"
    )
    assert len(difference(before, after)) >= lines

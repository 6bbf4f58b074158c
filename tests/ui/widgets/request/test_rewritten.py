"""What became of an input that somebody rewrote, as the page of the request tells it."""

from __future__ import annotations

from typing import Any

from tests.ui.requests import data, pending
from watchgate.core.model.events import Tool
from watchgate.core.tools.edit_blocks import difference, rewritten
from watchgate.ui.base.theme import DARK
from watchgate.ui.widgets.base.sheet import Sheet
from watchgate.ui.widgets.request.request_lines import request_lines

KEY = "AKIA" + "ABCDEFGH12345678"


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

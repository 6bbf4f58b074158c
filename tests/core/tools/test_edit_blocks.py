"""What a call changes in files, whichever way its agent writes that."""

from __future__ import annotations

from typing import Any

import pytest

from watchgate.core.model.events import Tool
from watchgate.core.tools.edit_blocks import blocks

PEM = "-----BEGIN PRIVATE KEY-----\n" + "A1b/" * 16 + "\n-----END PRIVATE KEY-----"


def lines(fields: dict[str, Any], *, bare: bool = False) -> list[tuple[str, str]]:
    """The lines of an edit with their signs."""
    edit = Tool("Edit", "Edit", "edit", fields, "h")
    return [(row.sign, row.text) for block in blocks(edit, bare=bare) for row in block.rows]


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"content": "a\nb"}, [("+", "a"), ("+", "b")]),
        (
            {"edits": [{"old_string": "a", "new_string": "b"}, {"new_string": "c"}]},
            [("-", "a"), ("+", "b"), ("+", "c")],
        ),
        ({"patch": "*** Begin Patch\n-a\n+b\n c"}, [("-", "a"), ("+", "b"), (" ", "c")]),
    ],
)
def test_agents_write_edits_in_three_ways(
    fields: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    assert lines(fields) == found


def test_a_call_that_edits_nothing_changes_nothing() -> None:
    assert blocks(Tool("Read", "Read", "read", {"content": "a"}, "h")) == []


def test_a_secret_of_several_lines_is_covered_in_an_edit() -> None:
    fields = {"file_path": "k", "new_string": f"{PEM}\nx"}
    assert lines(fields) == [("+", "<private-key, 118 chars>"), ("+", "x")]
    assert len(lines(fields, bare=True)) == 4


def test_an_edit_keeps_the_lines_that_stay_around_those_that_change() -> None:
    old, new = "steps:\n- uv build\n- up\n", "steps:\n- uv build -q\n- up\n"
    assert lines({"old_string": old, "new_string": new}) == [
        (" ", "steps:"),
        ("-", "- uv build"),
        ("+", "- uv build -q"),
        (" ", "- up"),
    ]

"""Editing a call: which text of it, and what input comes of it."""

from __future__ import annotations

import pytest

from watchgate.core.model.events import Tool, ToolClass
from watchgate.core.tools.edited_text import EDITABLE_CHARS, editable, edited


def call(cls: ToolClass = "shell", **args: object) -> Tool:
    return Tool("Bash", "Bash", cls, dict(args), "h")


def test_of_a_shell_call_the_command_is_edited_and_the_rest_stays() -> None:
    tool = call(command="rm -r build", timeout=30)
    assert editable(tool) == "rm -r build"
    assert edited(tool, "rm -r build/tmp") == {"command": "rm -r build/tmp", "timeout": 30}


def test_of_any_other_call_the_input_is_edited_as_json() -> None:
    tool = call("fetch", url="https://example.org/a")
    text = editable(tool)
    assert text == '{\n  "url": "https://example.org/a"\n}'
    assert edited(tool, text.replace("/a", "/b")) == {"url": "https://example.org/b"}


def test_a_command_in_two_fields_is_edited_with_the_whole_input() -> None:
    tool = call(command="ls", command_line="rm -r /")
    assert (editable(tool) or "").startswith("{")
    assert edited(tool, '{"command": "ls"}') == {"command": "ls"}


@pytest.mark.parametrize("text", ["{", "[]", '"x"'])
def test_what_is_no_json_object_is_said_to_be_none(text: str) -> None:
    with pytest.raises(ValueError, match="not a JSON object"):
        edited(call("fetch", url="x"), text)


def test_an_empty_command_is_no_edit() -> None:
    with pytest.raises(ValueError, match="nothing is left to run"):
        edited(call(command="ls"), "  \n")


def test_what_is_too_long_is_not_edited() -> None:
    assert editable(call(command="x" * (EDITABLE_CHARS + 1))) is None
    with pytest.raises(ValueError, match="longer than"):
        edited(call(command="ls"), "x" * (EDITABLE_CHARS + 1))

"""What of a call an operator can edit, and the input that the edited text makes."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Literal

import msgspec

from watchgate.core.events import Tool

Sign = Literal["+", "-", " "]

EDITABLE_CHARS = 10_000
"""Longer texts are asked about in any form, and nobody edits them in a prompt."""

_COMMAND_KEYS = ("command", "command_line", "commandLine")


def editable(tool: Tool) -> str | None:
    """The text to edit: a shell call's command, else its whole input as JSON; None if too long."""
    key = _command_key(tool)
    text = tool.input[key] if key else _json(tool.input)
    return text if len(text) <= EDITABLE_CHARS else None


def edited(tool: Tool, text: str) -> dict[str, Any]:
    """The input that this text makes; raises `ValueError` saying what is wrong with it."""
    if not text.strip():
        raise ValueError("nothing is left to run: Esc leaves it as it was, d denies")
    if len(text) > EDITABLE_CHARS:
        raise ValueError(f"longer than {EDITABLE_CHARS} characters")
    key = _command_key(tool)
    if key:
        return {**tool.input, key: text}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as fault:
        raise ValueError(f"not a JSON object: {fault}") from None


def line_changes(before: str, after: str) -> Iterator[tuple[Sign, int, str]]:
    """The lines of both texts in order: sign, where the line begins in its text, the line."""
    old, new = list(_lines(before)), list(_lines(after))
    matcher = SequenceMatcher(None, [line for _, line in old], [line for _, line in new], False)
    for what, i, k, m, n in matcher.get_opcodes():
        if what == "equal":
            yield from ((" ", *each) for each in new[m:n])
        else:
            yield from (("-", *each) for each in old[i:k])
            yield from (("+", *each) for each in new[m:n])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _command_key(tool: Tool) -> str | None:
    """The one field that holds the command; None where there is none, or more than one."""
    if tool.cls != "shell":
        return None
    named = [key for key in _COMMAND_KEYS if key in tool.input]
    single = len(named) == 1 and "commands" not in tool.input
    return named[0] if single and isinstance(tool.input[named[0]], str) else None


def _json(value: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()

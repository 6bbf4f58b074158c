"""The part of a call that an operator can edit, and the input that the edited text makes."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.base import decoding
from watchgate.core.model.events import Tool

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
        return decoding.decode(text, dict[str, Any])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as fault:
        raise ValueError(f"not a JSON object: {fault}") from None


def _command_key(tool: Tool) -> str | None:
    """The one field that holds the command; None where there is none, or more than one."""
    if tool.cls != "shell":
        return None
    named = [key for key in _COMMAND_KEYS if key in tool.input]
    single = len(named) == 1 and "commands" not in tool.input
    return named[0] if single and isinstance(tool.input[named[0]], str) else None


def _json(value: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()

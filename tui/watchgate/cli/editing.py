"""`allow --command`: another command in the place of the one that an agent asks about."""

from __future__ import annotations

from typing import Any

from watchgate.cli.ask import ask
from watchgate.cli.exits import Exit, Stop
from watchgate.core import decoding
from watchgate.link.protocol import Request


def edited_input(request: str, command: str) -> dict[str, Any]:
    """The input of a request with another command; ends the command where it has none."""
    from watchgate.core.edited_text import edited
    from watchgate.core.events import Tool

    shown = ask(Request(id=1, verb="show", request=request))["request"]
    tool = decoding.convert(shown["tool"], Tool)
    if tool.cls != "shell":
        raise Stop(f"{tool.name} runs no command; edit it in the console", Exit.USAGE)
    try:
        return edited(tool, command)
    except ValueError as fault:
        raise Stop(f"--command: {fault}", Exit.USAGE) from None


def becomes(shown: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The request that `show` answered with, as it would be with this input."""
    edited = ask(Request(id=1, verb="preview", request=shown["id"], input=given))
    return {**shown, **edited, "tool": {**shown["tool"], "input": edited["input"]}}

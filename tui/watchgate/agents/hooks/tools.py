"""The canonical tool of a call: its class, and the hash that makes two descriptions one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from watchgate.core.events import Tool, ToolClass
from watchgate.core.tool_input import input_hash

Classes = Mapping[str, ToolClass]

_SHOWN_AS = {"apply_patch": "Edit"}


def describe(name: str, args: dict[str, Any], call_id: str | None, classes: Classes) -> Tool:
    """Returns the canonical tool of a call; `classes` is the agent's table of tool names."""
    cls = classes.get(name)
    display = _SHOWN_AS.get(name, name)
    if cls is None:
        cls, display = _unlisted(name)
    return Tool(
        name=display,
        native_name=name,
        cls=cls,
        input=args,
        input_hash=input_hash(args, cls),
        call_id=call_id,
    )


def _unlisted(name: str) -> tuple[ToolClass, str]:
    server, _, tool = name.removeprefix("mcp__").partition("__")
    if name.startswith("mcp__") and tool:
        return "mcp", f"{server}:{tool}"
    return "other", name

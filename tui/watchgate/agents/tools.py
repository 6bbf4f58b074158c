"""Which kind of tool a name stands for, and what makes two descriptions of a call the same call."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from watchgate.core.events import Tool, ToolClass

Classes = Mapping[str, ToolClass]

_SHOWN_AS = {"apply_patch": "Edit"}
_HASH_LENGTH = 32
_ENCODER = msgspec.json.Encoder(order="sorted")


def describe(name: str, args: dict[str, Any], call_id: str | None, classes: Classes) -> Tool:
    """The canonical tool of a call; `classes` is the agent's table of tool names."""
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


def input_hash(args: dict[str, Any], cls: ToolClass) -> str:
    """32 hex digits over everything that decides what runs.

    The description of a command is left out: Codex adds it on the permission event of a call only.
    Without a command it is what the call is about, such as the text of an issue; and a tool that
    the agent did not make itself may do anything with it.
    """
    its_own = cls not in ("mcp", "other")
    if its_own and "description" in args and "command" in args:
        args = {key: value for key, value in args.items() if key != "description"}
    return sha256(_ENCODER.encode(args)).hexdigest()[:_HASH_LENGTH]


def _unlisted(name: str) -> tuple[ToolClass, str]:
    server, _, tool = name.removeprefix("mcp__").partition("__")
    if name.startswith("mcp__") and tool:
        return "mcp", f"{server}:{tool}"
    return "other", name

"""Values of a payload by their places, and the tools that a table's agent names in it.

A place is written as keys joined by dots, and compiled once.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from watchgate.agents.hooks.tools import describe
from watchgate.agents.table import Table
from watchgate.core.events import Tool
from watchgate.core.json_faults import JSON_FAULTS

_SHELL = "Bash"


class Tools:
    """The tools of one agent."""

    def __init__(self, table: Table) -> None:
        self._classes = table.classes
        self._names = {
            **{name: _SHELL for name, cls in table.classes.items() if cls == "shell"},
            **table.names,
        }
        self._mcp = tuple(map(_pattern, table.mcp))

    def tool(self, name: str, args: dict[str, Any], call_id: str | None) -> Tool:
        """Returns the canonical tool of a call."""
        if name not in self._classes:
            for pattern in self._mcp:
                if match := pattern.fullmatch(name):
                    groups = match.groupdict()
                    shown = f"{groups.get('server') or 'mcp'}:{groups['tool']}"
                    tool = describe(name, args, call_id, {name: "mcp"})
                    return msgspec.structs.replace(tool, name=shown)
        tool = describe(name, args, call_id, self._classes)
        shown = self._names.get(name, tool.name)
        return tool if shown == tool.name else msgspec.structs.replace(tool, name=shown)


def input_of(value: Any) -> dict[str, Any]:
    """Returns a call's input as an object; what is none is kept under `input`."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except JSON_FAULTS:
            return {"input": value}
        return value if isinstance(value, dict) else {"input": value}
    if value is None:
        return {}
    return value if isinstance(value, dict) else {"input": value}


def _pattern(written: str) -> re.Pattern[str]:
    """`mcp__{server}__{tool}` as a regular expression; a server's name is as short as it can be."""
    escaped = re.escape(written)
    return re.compile(
        escaped.replace(r"\{server\}", "(?P<server>.+?)").replace(r"\{tool\}", "(?P<tool>.+)"),
        re.DOTALL,
    )

"""Values of a payload by their places, and the tools that a table's agent names in it.

A place is written as keys joined by dots, and compiled once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from watchgate.agents.hooks.event_bodies import describe_tool, text
from watchgate.agents.table import Table
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.events import Tool

Place = tuple[str | int, ...]
Places = tuple[Place, ...]

_IN_BRACES = re.compile(r"\{([^{}]*)\}")


def compile_places(written: tuple[str, ...]) -> Places:
    """Returns the places as keys and positions; a number stands for a position in a list."""
    return tuple(
        tuple(int(key) if key.isascii() and key.isdigit() else key for key in place.split("."))
        for place in written
    )


def value_at(payload: Any, places: Places) -> Any:
    """Returns the value at the first place that has one; None where none has."""
    for place in places:
        value = _at(payload, place)
        if value is not None and value != "":
            return value
    return None


def text_template(written: str) -> Callable[[Any], str]:
    """Returns a function that replaces every `{place}` of a text by the words there."""
    pieces = _IN_BRACES.split(written)
    fixed, places = pieces[::2], [compile_places((place,)) for place in pieces[1::2]]

    def words(payload: Any) -> str:
        texts = [text(value_at(payload, each)) for each in places]
        return "".join(part for pair in zip(fixed, [*texts, ""], strict=True) for part in pair)

    return words


def placeholders(written: str) -> list[str]:
    """Returns the places that stand in braces."""
    return _IN_BRACES.findall(written)


def _at(value: Any, place: Place) -> Any:
    for key in place:
        if isinstance(value, dict):
            value = value.get(key if isinstance(key, str) else str(key))
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


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
                    tool = describe_tool(name, args, call_id, {name: "mcp"})
                    return msgspec.structs.replace(tool, name=shown)
        tool = describe_tool(name, args, call_id, self._classes)
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

"""Items are messages, tool calls and their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from watchgate.agents.streams.fields import Fields, name, rest, table, word
from watchgate.agents.streams.heard import Heard, tool_of
from watchgate.core.events import Text, Tool, ToolClass

CLASSES: Final[dict[str, ToolClass]] = {
    "bash": "shell",
    "Bash": "shell",
    "shell": "shell",
    "exec": "shell",
    "command_execution": "shell",
    "read_file": "read",
    "Read": "read",
    "Grep": "read",
    "Glob": "read",
    "write_file": "edit",
    "edit_file": "edit",
    "apply_patch": "edit",
    "file_change": "edit",
    "Edit": "edit",
    "Write": "edit",
    "WebFetch": "fetch",
    "web_search": "fetch",
}


def read_item(line: Heard, native: str, data: Fields) -> None:
    """Adds the events of `item.started` or `item.completed`, by the item's own kind."""
    item = table(data, "item")
    kind = word(item, "kind")
    step = _STEPS.get((native, kind))
    named = f"{native}/{kind}" if kind else native
    if step is None:
        line.add_text("notice", named, rest(item, ("item_id", "native_item_id", "kind")))
    else:
        step(line, named, item)


def _calls(line: Heard, native: str, item: Fields) -> None:
    part = _part(item, "tool_call")
    line.begin_call(native, _tool(part, item), ran=True)


def _called(line: Heard, native: str, item: Fields) -> None:
    """Adds a call with its arguments; it ran only when its result comes."""
    part = _part(item, "tool_call")
    tool = _tool(part, item)
    if word(item, "status") == "failed":
        line.end_call(
            native, tool, ok=False, output=rest(item, ("item_id", "native_item_id", "kind"))
        )
    elif tool.call_id in line.session.calls:
        line.add_text("notice", native, tool.name)
    else:
        line.begin_call(native, tool, ran=True)


def _result(line: Heard, native: str, item: Fields) -> None:
    part = _part(item, "tool_result")
    ok = word(item, "status") != "failed"
    line.end_call(native, _tool(part, item), ok=ok, output=part.get("output"))


def _message(line: Heard, native: str, item: Fields) -> None:
    users = word(item, "role") == "user"
    line.add("prompt.submit" if users else "message", native, Text(_message_text(item)))


def _message_text(item: Fields) -> str:
    texts = (word(part, "text") for part in _parts(item))
    return "\n".join(each for each in texts if each) or rest(item, ("item_id", "native_item_id"))


def _tool(part: Fields, item: Fields) -> Tool:
    call_id = name(part, "call_id") or name(item, "native_item_id", "item_id")
    return tool_of(word(part, "name") or "unnamed", _arguments(part), call_id or None, CLASSES)


def _arguments(part: Fields) -> dict[str, Any]:
    """Returns a call's arguments, which are JSON in a text; anything else is kept whole."""
    given = part.get("arguments")
    if isinstance(given, str):
        try:
            decoded = msgspec.json.decode(given)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            decoded = given
        given = decoded if isinstance(decoded, dict) else {"arguments": given}
    return given if isinstance(given, dict) else {}


def _part(item: Fields, kind: str) -> Fields:
    return next((part for part in _parts(item) if word(part, "type") == kind), {})


def _parts(item: Fields) -> list[Fields]:
    content = item.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


_STEPS: Final[dict[tuple[str, str], Callable[[Heard, str, Fields], None]]] = {
    ("item.started", "tool_call"): _calls,
    ("item.completed", "tool_call"): _called,
    ("item.completed", "tool_result"): _result,
    ("item.completed", "message"): _message,
}

"""The canonical tool of an ACP call: its class by `kind`, its input by what the agent tells of it.

Agents tell the input in three ways: whole in `rawInput`; in `rawInput` with more or fewer fields at
each step; or (Gemini CLI) not at all, so that only title, diffs and places are left. Input here is
the same at every step of a call, because it decides which decision a call falls under.
Wire format: `ToolCall` and `ToolCallUpdate` of the Agent Client Protocol, version 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from watchgate.agents.hooks.event_bodies import describe_tool
from watchgate.agents.proxied.wrapped import items, table, word
from watchgate.core.model.events import Tool, ToolClass

KINDS: Final[dict[str, ToolClass]] = {
    "execute": "shell",
    "read": "read",
    "search": "read",
    "edit": "edit",
    "delete": "edit",
    "move": "edit",
    "fetch": "fetch",
    "switch_mode": "plan",
    "think": "other",
    "other": "other",
}
_NAMES: Final = {"shell": "Bash", "read": "Read", "edit": "Edit", "fetch": "WebFetch"}
_ABOUT_A_SHELL: Final = ("description", "commands", "cwd")
"""Fields that agents add to a command at some steps and not at others."""


def tool_of(call: dict[str, Any], cwd: str) -> Tool:
    """Returns the tool of a call, from all that was said of it so far."""
    kind = word(call.get("kind")) or "other"
    meta = word(table(call.get("_meta")).get("toolName"))
    cls = KINDS.get(kind, "other")
    native = meta or kind
    id = word(call.get("toolCallId")) or None
    if cls == "other":
        return describe_tool(native, _rest_input(call), id, {})
    read_input = _INPUTS.get(cls)
    args = read_input(call, cwd) if read_input is not None else _rest_input(call)
    tool = describe_tool(native, args, id, {native: cls})
    return msgspec.structs.replace(tool, name=_NAMES.get(cls, native))


def _shell_input(call: dict[str, Any], cwd: str) -> dict[str, Any]:
    if call.get("rawInput") is None:
        # What the agent shows a person in the title is all that can be judged then.
        return {"command": word(call.get("title"), 1 << 20)}
    raw = table(call.get("rawInput"))
    command = raw.get("command")
    if not isinstance(command, str) or raw.get("commands") not in (None, [command]):
        return raw
    args = {key: value for key, value in raw.items() if key not in _ABOUT_A_SHELL}
    if description := word(raw.get("description"), 8_192):
        args["description"] = description
    elsewhere = word(raw.get("cwd"), 8_192)
    return args | ({"cwd": elsewhere} if elsewhere and elsewhere != cwd else {})


def _file_input(call: dict[str, Any], _cwd: str) -> dict[str, Any]:
    if raw := table(call.get("rawInput")):
        return raw
    diffs = [each for each in items(call.get("content")) if each.get("type") == "diff"]
    if len(diffs) == 1:
        return _edit(diffs[0])
    if diffs:
        return {"edits": [_edit(each) for each in diffs]}
    return _rest_input(call)


def _edit(diff: dict[str, Any]) -> dict[str, Any]:
    return {
        "file_path": word(diff.get("path"), 8_192),
        "old_string": diff.get("oldText") or "",
        "new_string": diff.get("newText") or "",
    }


def _fetch_input(call: dict[str, Any], _cwd: str) -> dict[str, Any]:
    return table(call.get("rawInput")) or {"url": word(call.get("title"), 8_192)}


def _rest_input(call: dict[str, Any]) -> dict[str, Any]:
    """Returns whatever else is known of the call: its title, and its file where there is one."""
    if raw := table(call.get("rawInput")):
        return raw
    paths = [word(each.get("path"), 8_192) for each in items(call.get("locations"))]
    args: dict[str, Any] = {"title": word(call.get("title"), 1 << 20)}
    if paths and paths[0]:
        args["file_path"] = paths[0]
    if content_text := texts(call.get("content")):
        args["text"] = content_text
    return args


def texts(content: Any) -> str:
    """Returns the words in a call's content, or in a prompt's."""
    return "\n".join(block_text for each in items(content) if (block_text := _text(each)))


def _text(block: dict[str, Any]) -> str:
    inner = block.get("content") if block.get("type") == "content" else block
    block_text = table(inner).get("text")
    return block_text if isinstance(block_text, str) else ""


_INPUTS: Final[dict[ToolClass, Callable[[dict[str, Any], str], dict[str, Any]]]] = {
    "shell": _shell_input,
    "edit": _file_input,
    "read": _file_input,
    "fetch": _fetch_input,
}

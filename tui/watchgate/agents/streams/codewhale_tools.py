"""Tools are known by CodeWhale's names, and by what its events say of one call."""

from __future__ import annotations

from typing import Any, Final

from watchgate.agents.streams.fields import Fields, table
from watchgate.agents.streams.heard import tool_of
from watchgate.agents.table.tools import input_of
from watchgate.core.events import Tool, ToolClass

CLASSES: Final[dict[str, ToolClass]] = {
    "exec_shell": "shell",
    "shell": "shell",
    "bash": "shell",
    "Bash": "shell",
    "Run": "shell",
    "read": "read",
    "read_file": "read",
    "list_dir": "read",
    "grep_files": "read",
    "file_search": "read",
    # It reads and writes; what writes is the graver of the two.
    "File": "edit",
    "write": "edit",
    "edit": "edit",
    "write_file": "edit",
    "edit_file": "edit",
    "apply_patch": "edit",
    "fetch_url": "fetch",
    "web_search": "fetch",
    "update_plan": "plan",
    "request_user_input": "question",
}

# What the policy of CodeWhale adds to a call before it runs; the rest is the call's own.
_ABOUT = frozenset(
    """allow call_id cwd execution_kind matched_rule phase reason requirement
    requires_approval""".split()
)


_SHELL_KINDS = frozenset(("shell", "local_shell"))


def tool(name: str, args: dict[str, Any], call_id: str, kind: object = None) -> Tool:
    """Returns the canonical tool of a call; `kind` is what CodeWhale says that carries it out."""
    classes = CLASSES
    if kind in _SHELL_KINDS and name not in CLASSES:
        classes = {name: "shell"}
    return tool_of(name, args, call_id or None, classes)


def tells_arguments(name: str, payload: Fields) -> bool:
    """Returns whether a `tool_lifecycle` payload has the call's arguments.

    That of a function tool has the tool's own name as its command; its arguments come later.
    """
    return payload.get("command") != name and bool(_own(payload))


def of_payload(name: str, payload: Fields, call_id: str) -> Tool:
    """Returns the tool of a `tool_lifecycle` payload.

    Without arguments it never counts as a tool that only reads: what it would read, nobody knows.

    What a read of nothing named would be said to read, nobody knows.
    """
    if tells_arguments(name, payload):
        return tool(name, _own(payload), call_id, payload.get("execution_kind"))
    classes: dict[str, ToolClass] = {name: "other"} if CLASSES.get(name) == "read" else CLASSES
    return tool_of(name, {}, call_id or None, classes)


def of_arguments(name: str, arguments: Any, call_id: str) -> Tool:
    """Returns the tool of a `tool_call_start` frame.

    The arguments lie in `params`, or as JSON in a text under `arguments`; what is neither is kept
    as it is.
    """
    given: dict[str, Any] = arguments if isinstance(arguments, dict) else {"arguments": arguments}
    inner = given.get("arguments")
    args = input_of(inner) if isinstance(inner, str | dict) else {}
    return tool(name, table(given, "params") or args or given, call_id, given.get("type"))


def _own(payload: Fields) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if key not in _ABOUT}

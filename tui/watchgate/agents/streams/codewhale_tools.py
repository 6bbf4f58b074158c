"""CodeWhale's tools, and what its events say of one call."""

from __future__ import annotations

from typing import Any, Final

from watchgate.agents.streams.fields import Fields, table
from watchgate.agents.streams.heard import tool_of
from watchgate.core.events import Tool, ToolClass

CLASSES: Final[dict[str, ToolClass]] = {
    "exec_shell": "shell",
    "read_file": "read",
    "list_dir": "read",
    "grep_files": "read",
    "file_search": "read",
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


def tool(name: str, args: dict[str, Any], call_id: str) -> Tool:
    """The canonical tool of a call."""
    return tool_of(name, args, call_id or None, CLASSES)


def of_payload(name: str, payload: Fields, call_id: str) -> Tool:
    """The tool of a `tool_lifecycle` payload."""
    args = {key: value for key, value in payload.items() if key not in _ABOUT}
    return tool(name, args, call_id)


def of_arguments(name: str, arguments: Any, call_id: str) -> Tool:
    """The tool of a `tool_call_start` frame, whose arguments lie in `params` for most tools."""
    given: dict[str, Any] = arguments if isinstance(arguments, dict) else {"arguments": arguments}
    return tool(name, table(given, "params") or given, call_id)

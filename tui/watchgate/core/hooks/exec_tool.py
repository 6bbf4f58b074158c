"""Shell-like tools, shown to hooks under one name, so that no policy on `command` can be passed by.

Agents call the same thing shell, exec_command or run_in_terminal, and its text `command` or `cmd`.
"""

from __future__ import annotations

import shlex
from typing import Any, Final

from watchgate.core.events import Event, Tool

SHELL_NAME: Final = "Bash"
_OTHER_FIELD: Final = "cmd"


def presented(event: Event) -> tuple[str, dict[str, Any]]:
    """Returns the tool's name and input as a hook is shown them.

    A call that has both fields, with different texts, shows both lines in `command`: which of them
    would run is the agent's secret.
    """
    tool = event.tool
    if tool is None:
        return "", {}
    if tool.cls != "shell":
        return tool.native_name, tool.input
    texts = [_text(tool.input[field]) for field in ("command", _OTHER_FIELD) if field in tool.input]
    if not texts:
        return SHELL_NAME, tool.input
    rest = {key: value for key, value in tool.input.items() if key != _OTHER_FIELD}
    return SHELL_NAME, {**rest, "command": "\n".join(dict.fromkeys(texts))}


def as_native(event: Event, new: dict[str, Any]) -> dict[str, Any] | None:
    """Returns a hook's new input in the agent's own fields.

    None where the call has two fields for its command, so that nobody can say which is replaced.
    """
    tool = event.tool
    if tool is None or tool.cls != "shell" or _OTHER_FIELD not in tool.input:
        return new
    if "command" in tool.input or {"command", _OTHER_FIELD} <= new.keys():
        return None
    return {_OTHER_FIELD if key == "command" else key: value for key, value in new.items()}


def has_argv(tool: Tool | None) -> bool:
    """Returns whether the call's command is a list of arguments, which no text can replace."""
    return tool is not None and isinstance(tool.input.get("command"), list)


def _text(command: Any) -> str:
    if isinstance(command, str):
        return command
    if isinstance(command, list):
        return shlex.join(str(part) for part in command)
    return str(command)

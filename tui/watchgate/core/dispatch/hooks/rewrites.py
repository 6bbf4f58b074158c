"""Rewrites that come as text: the codex fork's `content` is the new input as a JSON string.

- Shell-like tools, shown to hooks under one name, so that no policy on `command` can be passed by.
  Agents call the same thing shell, exec_command or run_in_terminal, and its text `command` or
  `cmd`.
"""

from __future__ import annotations

import shlex
from typing import Any, Final

import msgspec

from watchgate.core.model.events import Event, Tool
from watchgate.core.model.verdicts import Block, Defer, Modify, Verdict

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


REWRITABLE: Final = ("tool.pre", "tool.permission", "prompt.submit")
MISSING: Final = "hook returned modify without content field"
UNREADABLE: Final = (
    "hook returned modify with content that is not a JSON object in a string; nothing was run."
    ' Print the whole new tool input, for example "content": "{\\"command\\": \\"ls\\"}"'
)
ARGV: Final = (
    "hook returned modify, which is not supported for a local shell call: its arguments are a list,"
    " and a text cannot replace them. Block the call instead"
)
AMBIGUOUS: Final = (
    "hook returned modify for a call that has both command and cmd; nothing was run, since nobody"
    " can tell which of them to replace. Block such a call instead"
)


def rewritten(event: Event, content: Any, *, presented: bool) -> Verdict:
    """Returns the verdict of a rewrite; whatever cannot be run in the call's place blocks it.

    A prompt is replaced by the text itself, as `{"text": ...}`. What is over cannot be rewritten.
    An empty text is an empty input, which is a valid call; a missing one is not. `presented` says
    that the hook was shown the call as the function `presented` returns it, not in the agent's own
    fields.
    """
    if event.kind not in REWRITABLE:
        return Defer(f"warning: it said modify, which changes nothing at {event.kind}")
    if content is None:
        return Block(MISSING)
    if event.tool is None:
        return Modify({"text": content}) if isinstance(content, str) else Block(UNREADABLE)
    if has_argv(event.tool):
        return Block(ARGV)
    new = _object(content)
    if new is None:
        return Block(UNREADABLE)
    native = as_native(event, new) if presented else new
    return Block(AMBIGUOUS) if native is None else Modify(native)


def _object(content: Any) -> dict[str, Any] | None:
    if isinstance(content, dict):
        return content
    if not isinstance(content, str):
        return None
    if not content.strip():
        return {}
    try:
        decoded = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return decoded if isinstance(decoded, dict) else None

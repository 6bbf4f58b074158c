"""Our keys at the top of a JSON file: switches the agent needs, and the status line."""

from __future__ import annotations

from typing import Any, Literal

from watchgate.agents.base import Setup
from watchgate.service.setup.command import is_ours
from watchgate.service.setup.forms import json_edit
from watchgate.service.setup.forms.editor import StatusLine
from watchgate.service.setup.forms.json_scan import JsonError, Node, scan


def put(text: str, setup: Setup, status_line: str = "", wish: StatusLine = "set") -> str:
    """Returns the text with our keys; what the user wrote under the same keys stays."""
    if wish == "remove":
        text = take(text, setup, "")
    root = _root(text, setup)
    new: list[tuple[str | None, Any]] = [
        (key, value) for key, value in setup.extra.items() if root.get(key, text) is None
    ]
    splices = []
    shown = root.get(setup.status_line, text) if setup.status_line else None
    wanted = {"type": "command", "command": status_line}
    if setup.status_line and status_line:
        if shown is None and wish == "set":
            new.append((setup.status_line, wanted))
        elif shown is not None and _is_ours(shown, text) and shown.load(text) != wanted:
            splices.append(json_edit.replace(text, shown, wanted))
    if new:
        splices += json_edit.append(text, root, new)
    return json_edit.apply(text, splices)


def take(text: str, setup: Setup, before: str) -> str:
    """Returns the text without our status line, and without our switches that nobody changed."""
    root = _root(text, setup)
    had = _keys(before, setup)
    doomed = [
        at
        for at, member in enumerate(root.members)
        if (member.key == setup.status_line and _is_ours(member.value, text))
        or (
            had is not None
            and member.key not in had
            and member.key in setup.extra
            and member.value.load(text) == setup.extra[member.key]
        )
    ]
    return json_edit.apply(text, json_edit.remove(text, root, doomed)) if doomed else text


def status_line(text: str, setup: Setup) -> Literal["", "ours", "theirs"]:
    """Returns the owner of the file's status line: "ours", "theirs" or, without one, ""."""
    if not setup.status_line or not text.strip():
        return ""
    shown = _root(text, setup).get(setup.status_line, text)
    if shown is None:
        return ""
    return "ours" if _is_ours(shown, text) else "theirs"


def is_alone(text: str, setup: Setup) -> bool:
    """Returns whether nothing is left in a text but switches of ours, and no comment either."""
    if setup.form in ("kimi", "scripts", "plugin"):
        return False
    root = _root(text, setup)
    return json_edit.is_bare(text, root) and all(
        member.key in setup.extra and member.value.load(text) == setup.extra[member.key]
        for member in root.members
    )


def unset(text: str, setup: Setup) -> tuple[str, ...]:
    """Returns the switches that are missing or have another value than the agent's hooks need."""
    root = _root(text, setup)
    nodes = {key: root.get(key, text) for key in setup.extra}
    return tuple(
        key for key, node in nodes.items() if node is None or node.load(text) != setup.extra[key]
    )


def _root(text: str, setup: Setup) -> Node:
    root = scan(text, comments=setup.comments)
    if root.type != "object":
        raise JsonError(text, root.start, "the file does not hold a JSON object")
    return root


def _keys(text: str, setup: Setup) -> set[str] | None:
    """Returns the keys at the top of a text; None where nothing is known of it."""
    try:
        return {member.key for member in _root(text, setup).members} if text.strip() else None
    except JsonError:
        return None


def _is_ours(shown: Node, text: str) -> bool:
    command = shown.get("command", text)
    return command is not None and is_ours(command.load(text))

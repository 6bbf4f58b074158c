"""The one line that stands for a tool call wherever calls are listed."""

from __future__ import annotations

from watchgate.core import tool_input
from watchgate.core.events import Tool


def shown_path(path: str, cwd: str) -> str:
    """A path as it is listed: relative where it lies inside the session's folder."""
    return path.removeprefix(f"{cwd.rstrip('/')}/") if cwd else path


def summary(tool: Tool, cwd: str = "") -> str:
    """What the call would do, in one line and in the call's own words; `cwd` shortens its paths.

    The command of a shell call, the paths and line counts of an edit, the pattern and path of a
    search, the address of a fetch, the first question that is asked, the first line of a plan; else
    the tool's name. It is text from outside: show it through `safe_text`.
    """
    match tool.cls:
        case "shell":
            return tool_input.command(tool) or tool.name
        case "edit":
            return _edit(tool, cwd)
        case "read":
            return _read(tool, cwd)
        case "fetch":
            return tool_input.url(tool) or _field(tool, "query") or tool.name
        case "agent":
            return _field(tool, "description") or tool.name
        case "question":
            return _asked(tool) or tool.name
        case "plan":
            return _first_line(_field(tool, "plan")) or tool.name
        case _:
            return tool.name


def _edit(tool: Tool, cwd: str) -> str:
    paths = _paths(tool, cwd)
    if not paths:
        return tool.name
    added, removed = tool_input.line_counts(tool)
    return f"{paths}  +{added} -{removed}" if added or removed else paths


def _read(tool: Tool, cwd: str) -> str:
    paths = _paths(tool, cwd)
    pattern = _field(tool, "pattern")
    if pattern:
        return f"{pattern} in {paths}" if paths else pattern
    return paths or tool.name


def _paths(tool: Tool, cwd: str) -> str:
    return ", ".join(shown_path(path, cwd) for path in tool_input.paths(tool))


def _field(tool: Tool, key: str) -> str:
    value = tool.input.get(key)
    return value if isinstance(value, str) else ""


def _asked(tool: Tool) -> str:
    """What the call asks: the message of a form, or the first of several questions."""
    asked = tool.input.get("questions")
    first = asked[0] if isinstance(asked, list) and asked else None
    text = first.get("question") if isinstance(first, dict) else None
    return _field(tool, "message") or (text if isinstance(text, str) else "")


def _first_line(text: str) -> str:
    lines = (line.strip().lstrip("#").strip() for line in text.splitlines())
    return next((line for line in lines if line), "")

"""The one line that stands for a tool call wherever calls are listed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from watchgate.core.model.events import Tool
from watchgate.core.secrets.redact import redact
from watchgate.core.tools import tool_input

NO_PLAN = "The agent sent no text with this plan: read it in the agent's own terminal"
FIELD_CHARS = 1_000
VALUE_CHARS = 120
MAX_FIELDS = 12
READ_CHARS = 16_384

_TELLING: Final = {
    name: place
    for place, name in enumerate(
        "sql query statement command cmd script code expression url uri path file_path filePath"
        " file name title message".split()
    )
}
"""The fields that tell by themselves what a call would do, the most telling first."""

_WORD: Final = re.compile(r"[\w./:@%+,~#-]+")
_ENCODER: Final = msgspec.json.Encoder()


def shown_path(path: str, cwd: str) -> str:
    """A path as it is listed: relative where it lies inside the session's folder."""
    return path.removeprefix(f"{cwd.rstrip('/')}/") if cwd else path


def summary(tool: Tool, cwd: str = "") -> str:
    """Describes the call in one line and in its own words; `cwd` shortens its paths.

    The command of a shell call, the paths and line counts of an edit, the pattern and path of a
    search, the address of a fetch, the first question that is asked, the first line of a plan; else
    the tool's name with what it is given. It is text from outside: show it through `safe_text`.
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
            given = " ".join(_given(tool.input))
            return f"{tool.name}{_between(tool.name)}{given}" if given else tool.name


def in_columns(tool: str, line: str, cells: int) -> tuple[str, str]:
    """The texts of the two columns for a tool and its call, where the one has so many cells.

    The line of a tool of unknown making begins with its name: what the first column has room for
    is not said again in the second.
    """
    head, rest = line[: len(tool)], line[len(tool) :]
    between = _between(tool)
    if not tool or head != tool or not (not rest or rest.startswith(between)):
        return tool, line
    server, colon, name = tool.partition(":")
    if colon and len(tool) > cells:
        return server, f"{name}{rest}"
    return (tool, rest.removeprefix(between)) if rest else (tool, line)


def _between(tool: str) -> str:
    """Returns the separator of a tool's name and its arguments: no command begins like it."""
    return " " if ":" in tool else ": "


def uncut_fields(tool: Tool) -> frozenset[str]:
    """The fields of which the line of a tool of unknown making leaves nothing out."""
    return frozenset(
        name for name, text, max_chars in _fields(tool.input) if len(text) <= max_chars
    )


def _given(args: Mapping[str, Any]) -> Iterator[str]:
    """The fields of an input as the line has them."""
    shown_count = 0
    for _, text, max_chars in _fields(args):
        shown_count += 1
        yield _bounded(text, max_chars)
    if left := sum(not _is_empty(value) for value in args.values()) - shown_count:
        yield f"+{left} more"


def _fields(args: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Each field that is told: its name, its text, and how many characters of that are shown.

    The value that tells most stands by itself, the others with their names.
    """
    telling_key = next(
        (name for name in _TELLING if isinstance(args.get(name), str) and args[name]), ""
    )
    others = [name for name in args if name != telling_key and not _is_empty(args[name])]
    if telling_key:
        # What looks like another field must not be taken for one.
        alone = not others or "=" not in args[telling_key]
        yield telling_key, args[telling_key] if alone else _json(args[telling_key]), FIELD_CHARS
    others.sort(key=lambda name: _TELLING.get(name, len(_TELLING)))
    for name in others[:MAX_FIELDS]:
        value = args[name]
        text = value if isinstance(value, str) and _WORD.fullmatch(value) else _json(value)
        shown = name if _WORD.fullmatch(name) else _json(name)
        yield name, f"{shown}={text}", VALUE_CHARS


def _json(value: object) -> str:
    return _ENCODER.encode(value).decode()


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [], {})


def _bounded(text: str, max_chars: int) -> str:
    """The beginning of a text; a secret that is cut would no longer be known for one."""
    if len(text) <= max_chars:
        return text
    return f"{redact(text[:READ_CHARS])[:max_chars]}..."


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
    """Returns the question of the call: the message of a form, or the first of several."""
    asked = tool.input.get("questions")
    first = asked[0] if isinstance(asked, list) and asked else None
    text = first.get("question") if isinstance(first, dict) else None
    return _field(tool, "message") or (text if isinstance(text, str) else "")


def _first_line(text: str) -> str:
    lines = (line.strip().lstrip("#").strip() for line in text.splitlines())
    return next((line for line in lines if line), "")


def shown_text(tool: Tool, summary: str) -> str:
    """Returns the text that findings point into: a shell command, a plan, else the summary."""
    if tool.cls == "plan":
        plan = tool.input.get("plan")
        if isinstance(plan, str) and plan.strip():
            return plan
        return NO_PLAN if summary == tool.name else summary
    command = tool_input.command(tool) if tool.cls == "shell" else None
    return summary if command is None else command

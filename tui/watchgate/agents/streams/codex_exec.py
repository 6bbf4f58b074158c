"""`codex exec --json`: one object a line, its event named by `type`.

Only the first line names the session, so whatever comes before `thread.started` belongs to a
guessed one. No line names the folder: it is taken to be the tap's own. Wire format: the events of
codex-rs/exec, Codex CLI 0.169; older ones lack fields.

Items have begins and ends, which become calls.

The six names that hooks of codex_cli_sdk know are exactly these: an item of another status or type
has a name of its own, so that no such hook takes it for one of them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, Final

import msgspec

from watchgate.agents.streams.line_events import (
    Fields,
    LineEvents,
    folder,
    name,
    rest,
    table,
    tool_of,
    whole,
    word,
)
from watchgate.agents.streams.stream_source import Source
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event, Text, Tool, ToolClass, Usage
from watchgate.core.tools.tool_input import input_hash

CLASSES: Final[dict[str, ToolClass]] = {
    "command_execution": "shell",
    "file_change": "edit",
    "web_search": "fetch",
}

_SHELLS: Final = frozenset({"bash", "sh", "zsh"})
_CHANGED: Final = {"add": "Add", "delete": "Delete"}

Step = Callable[[LineEvents, str, Fields], None]


def read_item(line: LineEvents, native: str, item: Fields) -> None:
    """Adds the events of one `item.started`, `item.updated` or `item.completed`."""
    kind = word(item, "type")
    named = f"{native}/{kind}"
    step = _STEPS.get((native, kind))
    if step is None:
        line.add_text("notice", named, rest(item, ("id", "type")))
    else:
        step(line, named, item)


def _begins(line: LineEvents, native: str, item: Fields) -> None:
    line.begin_call(native, _tool(line, item), ran=True)


def _command_ends(line: LineEvents, native: str, item: Fields) -> None:
    status, code = word(item, "status"), whole(item, "exit_code")
    if status == "declined":
        line.refuse_call(f"{native}/{status}", _tool(line, item))
    elif status in ("completed", "failed") or code:
        ok = status == "completed" and not code
        output_text = word(item, "aggregated_output")
        if not ok and status != "failed":
            output_text = f"{output_text}\n[reported as {status or 'no status'}]".lstrip("\n")
        line.end_call(native, _tool(line, item), ok=ok, output=output_text, exit_code=code)
    else:
        line.add_text("notice", f"{native}/{status}", rest(item, ("id", "type")))


def _ends(line: LineEvents, native: str, item: Fields) -> None:
    status = word(item, "status")
    if status == "declined":
        line.refuse_call(native, _tool(line, item))
        return
    failed = status == "failed" or bool(item.get("error"))
    outcome = item.get("error") or item.get("result") or rest(item, ("id", "type", "arguments"))
    line.end_call(native, _tool(line, item), ok=not failed, output=outcome)


def _message(line: LineEvents, native: str, item: Fields) -> None:
    line.add("message", native, Text(word(item, "text")))


def _trouble(line: LineEvents, native: str, item: Fields) -> None:
    line.add_text("notice", native, word(item, "message"))


def _tool(line: LineEvents, item: Fields) -> Tool:
    kind = word(item, "type")
    args: dict[str, Any]
    if kind == "mcp_tool_call":
        kind = f"mcp__{word(item, 'server')}__{word(item, 'tool')}"
        args = table(item, "arguments")
    elif kind == "file_change":
        args = {"changes": item.get("changes"), "patch": _patch(item.get("changes"))}
    else:
        args = {key: item[key] for key in ("command", "query") if key in item}
    tool = tool_of(kind, args, _call_id(line, item), CLASSES)
    if tool.cls != "shell":
        return tool
    runs = input_hash({"command": _unwrapped(item.get("command"))}, tool.cls)
    return msgspec.structs.replace(tool, input_hash=runs)


def _unwrapped(command: Any) -> Any:
    """Returns the command as hooks know it: this stream shows it inside the shell that runs it."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return command
    shells = len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS
    return words[2] if shells and words[1] in ("-lc", "-c") else command


def _call_id(line: LineEvents, item: Fields) -> str | None:
    """Returns the call's id: item numbers begin anew in a resumed thread, the process differs."""
    item_id = name(item, "id")
    return f"{item_id}@{line.source.pid}" if item_id and line.source.pid else item_id or None


def _patch(changes: Any) -> str:
    """Returns the changed files as the head of a patch names them, where paths are looked for."""
    named = [one for one in changes if isinstance(one, dict)] if isinstance(changes, list) else []
    lines = [
        f"*** {_CHANGED.get(word(one, 'kind'), 'Update')} File: {word(one, 'path')}"
        for one in named
        if word(one, "path")
    ]
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


_STEPS: Final[dict[tuple[str, str], Step]] = {
    ("item.started", "command_execution"): _begins,
    ("item.started", "file_change"): _begins,
    ("item.started", "mcp_tool_call"): _begins,
    ("item.started", "web_search"): _begins,
    ("item.completed", "command_execution"): _command_ends,
    ("item.completed", "file_change"): _ends,
    ("item.completed", "mcp_tool_call"): _ends,
    ("item.completed", "web_search"): _ends,
    ("item.completed", "agent_message"): _message,
    ("item.completed", "reasoning"): _message,
    ("item.completed", "error"): _trouble,
}


AGENT: Final = "codex"
_FAMILIES = ("thread.", "turn.", "item.")


def fits(fields: Fields) -> bool:
    """Returns whether a line is one of these events."""
    kind = word(fields, "type")
    return kind in _EVENTS or kind.startswith(_FAMILIES)


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """Returns the events of one line."""
    native = name(fields, "type")
    if native == "thread.started":
        source.session = name(fields, "thread_id")
    line = LineEvents(source, at, agent=AGENT, session=source.session)
    line.session.turn = str(line.session.turns + 1)
    line.session.cwd = source.cwd
    line.session.ends = bool(source.agent)  # a tap copies the run's own output to its end
    line.session.numbering = "exec"  # the hooks of the same session have other ids
    step = _EVENTS.get(native)
    if step is not None:
        step(line, native, fields)
    elif native.startswith("item."):
        read_item(line, native, table(fields, "item"))
    else:
        line.add_text("notice", native, rest(fields, ("type",)))
    return line.events


def _thread(line: LineEvents, native: str, _fields: Fields) -> None:
    line.session.turn = None
    line.add_change("session.start", native, "started")


def _turn(line: LineEvents, native: str, _fields: Fields) -> None:
    line.add_text("model.request", native)


def _turn_done(line: LineEvents, native: str, fields: Fields) -> None:
    used = table(fields, "usage")
    if used:
        usage = Usage(
            input=whole(used, "input_tokens"),
            output=whole(used, "output_tokens"),
            cache_read=whole(used, "cached_input_tokens"),
            cache_write=whole(used, "cache_write_input_tokens"),
            reasoning=whole(used, "reasoning_output_tokens"),
            counts="total",
            cached_within=True,
        )
        line.add("usage", f"{native}/usage", usage)
    line.add_text("turn.end", native)
    line.session.end_turn()


def _turn_failed(line: LineEvents, native: str, fields: Fields) -> None:
    line.add_text("turn.error", native, word(table(fields, "error"), "message"))
    line.session.end_turn()


def _error(line: LineEvents, native: str, fields: Fields) -> None:
    line.add_text("notice", native, word(fields, "message"))


def _asks(line: LineEvents, native: str, fields: Fields) -> None:
    """Adds an approval request of codex_cli_sdk's stream, for a command or for a patch."""
    args: dict[str, Any] = {key: fields[key] for key in ("command", "changes") if key in fields}
    call_id = name(fields, "call_id")
    tool = tool_of(_ASKED[native], args, call_id or None, CLASSES)
    line.ask_permission(
        native, name(fields, "approval_id") or call_id, tool, cwd=folder(fields, "cwd")
    )


_ASKED: Final = {
    "exec_approval_request": "command_execution",
    "apply_patch_approval_request": "file_change",
}
_EVENTS: Final[dict[str, Callable[[LineEvents, str, Fields], None]]] = {
    "thread.started": _thread,
    "turn.started": _turn,
    "turn.completed": _turn_done,
    "turn.failed": _turn_failed,
    "error": _error,
    "exec_approval_request": _asks,
    "apply_patch_approval_request": _asks,
}

"""Plays a harmless request through the installed command, as the agent would run it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from watchgate.agents.base import Adapter, DecodeError, Intake
from watchgate.agents.opencode.events import BEFORE
from watchgate.agents.table import EventRule, Fields, Paths, Table
from watchgate.agents.table.adapter import TableAdapter
from watchgate.core.clock import Instant
from watchgate.core.events import Lane, ToolClass
from watchgate.service.probe import COMMAND, PATH, SESSION, is_probe

_FIELDS: Final = Fields()
_NEVER: Final = Instant(wall_us=0, mono_s=0.0)
_CLASSES: Final[dict[str, tuple[ToolClass, str, str, str]]] = {
    "gate": ("shell", "Bash", "command", COMMAND),
    "observe": ("shell", "Bash", "command", COMMAND),
    "gate-read": ("read", "Read", "file_path", PATH),
}


def payload(agent: Adapter, lane: str, native: str) -> bytes | None:
    """Encodes one pre-tool event on this lane; None where it would be no known probe.

    So it is with events that ask about no call, or only about one that cannot be harmless.
    """
    made = _made(agent, lane, native)
    if made is None:
        return None
    intake = Intake(lane=Lane(lane), at=_NEVER, native=native)
    try:
        return made if is_probe(agent.decode(made, intake)) else None
    except DecodeError:
        return None


def _made(agent: Adapter, lane: str, native: str) -> bytes | None:
    if agent.name == "opencode":
        return _plugin_call(lane) if native == BEFORE and lane in _CLASSES else None
    table = agent.table if isinstance(agent, TableAdapter) else None
    rule = table.events.get(native) if table else EventRule(kind="tool.pre")
    if rule is None or rule.kind != "tool.pre" or lane not in _CLASSES:
        return None
    if table is None and native != "PreToolUse":
        return None
    fields = rule.fields or (table.fields if table else _FIELDS)
    kind, tool, key, value = _CLASSES[lane]
    made: dict[str, Any] = {}
    _put(made, fields.event, native)
    _put(made, fields.session, SESSION)
    _put(made, fields.cwd, str(Path.cwd()))
    _put(made, fields.call_id, SESSION)
    if rule.tool:
        for name, where in rule.input.items():
            _put(made, (where,), value if name in ("command", "file_path", "path") else "")
    else:
        _put(made, fields.tool, _tool(table, kind, tool))
        _put(made, fields.input, {key: value})
    return msgspec.json.encode(made)


def _plugin_call(lane: str) -> bytes:
    """Encodes the call that our plugin for OpenCode hands to the client."""
    kind, _, _, value = _CLASSES[lane]
    tool, key = ("read", "filePath") if kind == "read" else ("bash", "command")
    called = {"tool": tool, "sessionID": SESSION, "callID": SESSION}
    made = {"hook": BEFORE, "input": called, "output": {"args": {key: value}}}
    return msgspec.json.encode(made)


def _tool(table: Table | None, kind: ToolClass, otherwise: str) -> str:
    classes = table.classes if table else {}
    return next((name for name, kind_of_name in classes.items() if kind_of_name == kind), otherwise)


def _put(made: dict[str, Any], where: Paths, value: Any) -> None:
    """Puts a value at the first of these places; a number is the one position of a list."""
    if not where:
        return
    for key in reversed(where[0].split(".")[1:]):
        value = [value] if key.isdigit() else {key: value}
    first = where[0].split(".")[0]
    had = made.get(first)
    made[first] = {**had, **value} if isinstance(had, dict) and isinstance(value, dict) else value

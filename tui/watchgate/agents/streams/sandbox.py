"""sandbox-agent's universal events: an envelope, and `data` that only its `type` tells how to read.

A permission can be watched here, not answered: its reply goes to sandbox-agent's own HTTP server.
Wire format: the universal event schema of rivet-dev/sandbox-agent, January and February 2026.

Items are messages, tool calls and their results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from watchgate.agents.decision_words import Meaning, meaning
from watchgate.agents.hooks.event_bodies import text
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
from watchgate.core import codewhale
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event, Text, Tool, ToolClass, Unknown

CLASSES: Final[dict[str, ToolClass]] = {
    "bash": "shell",
    "Bash": "shell",
    "shell": "shell",
    "exec": "shell",
    "command_execution": "shell",
    "read_file": "read",
    "Read": "read",
    "Grep": "read",
    "Glob": "read",
    "write_file": "edit",
    "edit_file": "edit",
    "apply_patch": "edit",
    "file_change": "edit",
    "Edit": "edit",
    "Write": "edit",
    "WebFetch": "fetch",
    "web_search": "fetch",
}


def read_item(line: LineEvents, native: str, data: Fields) -> None:
    """Adds the events of `item.started` or `item.completed`, by the item's own kind."""
    item = table(data, "item")
    kind = word(item, "kind")
    step = _STEPS.get((native, kind))
    named = f"{native}/{kind}" if kind else native
    if step is None:
        line.add_text("notice", named, rest(item, ("item_id", "native_item_id", "kind")))
    else:
        step(line, named, item)


def _calls(line: LineEvents, native: str, item: Fields) -> None:
    part = _part(item, "tool_call")
    line.begin_call(native, _tool(part, item), ran=True)


def _called(line: LineEvents, native: str, item: Fields) -> None:
    """Adds a call with its arguments; it ran only when its result comes."""
    part = _part(item, "tool_call")
    tool = _tool(part, item)
    if word(item, "status") == "failed":
        line.end_call(
            native, tool, ok=False, output=rest(item, ("item_id", "native_item_id", "kind"))
        )
    elif tool.call_id in line.session.calls:
        line.add_text("notice", native, tool.name)
    else:
        line.begin_call(native, tool, ran=True)


def _result(line: LineEvents, native: str, item: Fields) -> None:
    part = _part(item, "tool_result")
    ok = word(item, "status") != "failed"
    line.end_call(native, _tool(part, item), ok=ok, output=part.get("output"))


def _message(line: LineEvents, native: str, item: Fields) -> None:
    users = word(item, "role") == "user"
    line.add("prompt.submit" if users else "message", native, Text(_message_text(item)))


def _message_text(item: Fields) -> str:
    texts = (word(part, "text") for part in _parts(item))
    return "\n".join(each for each in texts if each) or rest(item, ("item_id", "native_item_id"))


def _tool(part: Fields, item: Fields) -> Tool:
    call_id = name(part, "call_id") or name(item, "native_item_id", "item_id")
    return tool_of(word(part, "name") or "unnamed", _arguments(part), call_id or None, CLASSES)


def _arguments(part: Fields) -> dict[str, Any]:
    """Returns a call's arguments, which are JSON in a text; anything else is kept whole."""
    given = part.get("arguments")
    if isinstance(given, str):
        try:
            decoded = msgspec.json.decode(given)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            decoded = given
        given = decoded if isinstance(decoded, dict) else {"arguments": given}
    return given if isinstance(given, dict) else {}


def _part(item: Fields, kind: str) -> Fields:
    return next((part for part in _parts(item) if word(part, "type") == kind), {})


def _parts(item: Fields) -> list[Fields]:
    content = item.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


_STEPS: Final[dict[tuple[str, str], Callable[[LineEvents, str, Fields], None]]] = {
    ("item.started", "tool_call"): _calls,
    ("item.completed", "tool_call"): _called,
    ("item.completed", "tool_result"): _result,
    ("item.completed", "message"): _message,
}


AGENT: Final = "sandbox-agent"


def fits(fields: Fields) -> bool:
    """Returns whether a line is such an envelope."""
    return "event_id" in fields and "sequence" in fields


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """Returns the events of one line."""
    native = name(fields, "type")
    line = LineEvents(
        source,
        at,
        agent=AGENT,
        session=name(fields, "session_id"),
        sent_us=codewhale.read_stamp(word(fields, "time")),
    )
    _in_order(line, whole(fields, "sequence"))
    step = _EVENTS.get(native)
    if step is None:
        line.add_text("notice", native, rest(table(fields, "data")) or rest(fields))
    else:
        step(line, native, table(fields, "data"))
    return line.events


def _in_order(line: LineEvents, sequence: int | None) -> None:
    """Notes a gap: numbers count from 1 in each session; a source joined late missed nothing."""
    if sequence is None:
        return
    last, line.session.seq = line.session.seq, sequence
    if last is None or sequence == last + 1:
        return
    if sequence > last:
        line.add_gap(last + 1, sequence - 1)
    else:
        line.add_text("notice", "stream.order", f"event {sequence} came after event {last}")


def _session_starts(line: LineEvents, native: str, data: Fields) -> None:
    line.session.cwd = folder(table(data, "metadata"), "cwd", "workingDir")
    line.add_change("session.start", native, "started")


def _session_ends(line: LineEvents, native: str, data: Fields) -> None:
    details = (word(data, "message"), f"by the {word(data, 'terminated_by')}")
    detail = ", ".join(each for each in details if each and each != "by the ")
    line.add_change("session.end", native, word(data, "reason"), detail)
    line.session.end_turn()


def _turn_starts(line: LineEvents, native: str, data: Fields) -> None:
    line.session.turn = name(data, "turn_id") or str(line.session.turns + 1)
    line.add_text("model.request", native)


def _turn_ends(line: LineEvents, native: str, data: Fields) -> None:
    line.add_text("turn.end", native, rest(data, ("phase", "turn_id")))
    line.session.end_turn()


def _delta(line: LineEvents, native: str, data: Fields) -> None:
    line.add("message", native, Text(word(data, "delta")))


def _asks(line: LineEvents, native: str, data: Fields) -> None:
    question_id = name(data, "permission_id")
    args = {"action": data.get("action"), **table(data, "metadata")}
    kind = "exec" if isinstance(args.get("command"), str | list) else word(data, "action")
    known = line.find_open_call(args.get("command"))
    line.ask_permission(
        native, question_id, known or tool_of(kind, args, question_id or None, CLASSES)
    )


def _answered(line: LineEvents, native: str, data: Fields) -> None:
    status = word(data, "status")
    tool = line.session.asked.pop(name(data, "permission_id"), None)
    if tool is None:
        notice = f"an answer to no open question: {word(data, 'action')} {status}"
        line.add_text("notice", native, notice)
    elif meaning("sandbox-status", status) is Meaning.DENY:
        line.refuse_call(native, tool)
    else:
        line.add_text("tool.permission.resolved", native, f"{word(data, 'action')}: {status}")


def _questions(line: LineEvents, native: str, data: Fields) -> None:
    options = data.get("options")
    offered = f" ({', '.join(map(text, options))})" if isinstance(options, list) else ""
    line.add_text("question", native, f"{word(data, 'prompt')}{offered}")


def _question_over(line: LineEvents, native: str, data: Fields) -> None:
    answer = text(data.get("response")) or word(data, "status")
    line.add_text("notice", native, f"{word(data, 'prompt')}: {answer}")


def _error(line: LineEvents, native: str, data: Fields) -> None:
    code: Any = data.get("code")
    line.add_text("notice", native, f"{word(data, 'message')}{f' ({text(code)})' if code else ''}")


def _unparsed(line: LineEvents, native: str, data: Fields) -> None:
    line.add("unknown", native, Unknown(why=word(data, "error"), text=rest(data, ("error",))))


_EVENTS: Final[dict[str, Callable[[LineEvents, str, Fields], None]]] = {
    "session.started": _session_starts,
    "session.ended": _session_ends,
    "turn.started": _turn_starts,
    "turn.ended": _turn_ends,
    "item.started": read_item,
    "item.completed": read_item,
    "item.delta": _delta,
    "permission.requested": _asks,
    "permission.resolved": _answered,
    "question.requested": _questions,
    "question.resolved": _question_over,
    "error": _error,
    "agent.unparsed": _unparsed,
}

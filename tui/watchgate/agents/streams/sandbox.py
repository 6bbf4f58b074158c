"""sandbox-agent's universal events: an envelope, and `data` that only its `type` tells how to read.

A permission can be watched here, not answered: its reply goes to sandbox-agent's own HTTP server.
Wire format: the universal event schema of rivet-dev/sandbox-agent, January and February 2026.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from watchgate.agents.decision_words import Meaning, meaning
from watchgate.agents.hooks.payload import text
from watchgate.agents.streams.fields import Fields, folder, name, rest, table, whole, word
from watchgate.agents.streams.heard import Heard, tool_of
from watchgate.agents.streams.sandbox_items import CLASSES, read_item
from watchgate.agents.streams.source import Source
from watchgate.core.clock import Instant
from watchgate.core.codewhale import stamps
from watchgate.core.events import Event, Text, Unknown

AGENT: Final = "sandbox-agent"


def fits(fields: Fields) -> bool:
    """Returns whether a line is such an envelope."""
    return "event_id" in fields and "sequence" in fields


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """Returns the events of one line."""
    native = name(fields, "type")
    line = Heard(
        source,
        at,
        agent=AGENT,
        session=name(fields, "session_id"),
        sent_us=stamps.read(word(fields, "time")),
    )
    _in_order(line, whole(fields, "sequence"))
    step = _EVENTS.get(native)
    if step is None:
        line.add_text("notice", native, rest(table(fields, "data")) or rest(fields))
    else:
        step(line, native, table(fields, "data"))
    return line.events


def _in_order(line: Heard, sequence: int | None) -> None:
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


def _session_starts(line: Heard, native: str, data: Fields) -> None:
    line.session.cwd = folder(table(data, "metadata"), "cwd", "workingDir")
    line.add_change("session.start", native, "started")


def _session_ends(line: Heard, native: str, data: Fields) -> None:
    details = (word(data, "message"), f"by the {word(data, 'terminated_by')}")
    detail = ", ".join(each for each in details if each and each != "by the ")
    line.add_change("session.end", native, word(data, "reason"), detail)
    line.session.end_turn()


def _turn_starts(line: Heard, native: str, data: Fields) -> None:
    line.session.turn = name(data, "turn_id") or str(line.session.turns + 1)
    line.add_text("model.request", native)


def _turn_ends(line: Heard, native: str, data: Fields) -> None:
    line.add_text("turn.end", native, rest(data, ("phase", "turn_id")))
    line.session.end_turn()


def _delta(line: Heard, native: str, data: Fields) -> None:
    line.add("message", native, Text(word(data, "delta")))


def _asks(line: Heard, native: str, data: Fields) -> None:
    question_id = name(data, "permission_id")
    args = {"action": data.get("action"), **table(data, "metadata")}
    kind = "exec" if isinstance(args.get("command"), str | list) else word(data, "action")
    known = line.find_open_call(args.get("command"))
    line.ask_permission(
        native, question_id, known or tool_of(kind, args, question_id or None, CLASSES)
    )


def _answered(line: Heard, native: str, data: Fields) -> None:
    status = word(data, "status")
    tool = line.session.asked.pop(name(data, "permission_id"), None)
    if tool is None:
        notice = f"an answer to no open question: {word(data, 'action')} {status}"
        line.add_text("notice", native, notice)
    elif meaning("sandbox-status", status) is Meaning.DENY:
        line.refuse_call(native, tool)
    else:
        line.add_text("tool.permission.resolved", native, f"{word(data, 'action')}: {status}")


def _questions(line: Heard, native: str, data: Fields) -> None:
    options = data.get("options")
    offered = f" ({', '.join(map(text, options))})" if isinstance(options, list) else ""
    line.add_text("question", native, f"{word(data, 'prompt')}{offered}")


def _question_over(line: Heard, native: str, data: Fields) -> None:
    answer = text(data.get("response")) or word(data, "status")
    line.add_text("notice", native, f"{word(data, 'prompt')}: {answer}")


def _error(line: Heard, native: str, data: Fields) -> None:
    code: Any = data.get("code")
    line.add_text("notice", native, f"{word(data, 'message')}{f' ({text(code)})' if code else ''}")


def _unparsed(line: Heard, native: str, data: Fields) -> None:
    line.add("unknown", native, Unknown(why=word(data, "error"), text=rest(data, ("error",))))


_EVENTS: Final[dict[str, Callable[[Heard, str, Fields], None]]] = {
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

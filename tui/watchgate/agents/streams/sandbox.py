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
    """Whether a line is such an envelope."""
    return "event_id" in fields and "sequence" in fields


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """The events of one line."""
    native = name(fields, "type")
    heard = Heard(
        source,
        at,
        agent=AGENT,
        session=name(fields, "session_id"),
        said_us=stamps.read(word(fields, "time")),
    )
    _in_order(heard, whole(fields, "sequence"))
    step = _EVENTS.get(native)
    if step is None:
        heard.words("notice", native, rest(table(fields, "data")) or rest(fields))
    else:
        step(heard, native, table(fields, "data"))
    return heard.events


def _in_order(heard: Heard, sequence: int | None) -> None:
    """Numbers count from 1 in each session; a source that is joined late missed nothing."""
    if sequence is None:
        return
    last, heard.seen.seq = heard.seen.seq, sequence
    if last is None or sequence == last + 1:
        return
    if sequence > last:
        heard.gap(last + 1, sequence - 1)
    else:
        heard.words("notice", "stream.order", f"event {sequence} came after event {last}")


def _session_starts(heard: Heard, native: str, data: Fields) -> None:
    heard.seen.cwd = folder(table(data, "metadata"), "cwd", "workingDir")
    heard.changed("session.start", native, "started")


def _session_ends(heard: Heard, native: str, data: Fields) -> None:
    details = (word(data, "message"), f"by the {word(data, 'terminated_by')}")
    detail = ", ".join(each for each in details if each and each != "by the ")
    heard.changed("session.end", native, word(data, "reason"), detail)
    heard.seen.turn_over()


def _turn_starts(heard: Heard, native: str, data: Fields) -> None:
    heard.seen.turn = name(data, "turn_id") or str(heard.seen.turns + 1)
    heard.words("model.request", native)


def _turn_ends(heard: Heard, native: str, data: Fields) -> None:
    heard.words("turn.end", native, rest(data, ("phase", "turn_id")))
    heard.seen.turn_over()


def _delta(heard: Heard, native: str, data: Fields) -> None:
    heard.say("message", native, Text(word(data, "delta")))


def _asks(heard: Heard, native: str, data: Fields) -> None:
    question_id = name(data, "permission_id")
    args = {"action": data.get("action"), **table(data, "metadata")}
    kind = "exec" if isinstance(args.get("command"), str | list) else word(data, "action")
    known = heard.running(args.get("command"))
    heard.ask(native, question_id, known or tool_of(kind, args, question_id or None, CLASSES))


def _answered(heard: Heard, native: str, data: Fields) -> None:
    status = word(data, "status")
    tool = heard.seen.asked.pop(name(data, "permission_id"), None)
    if tool is None:
        said = f"an answer to no open question: {word(data, 'action')} {status}"
        heard.words("notice", native, said)
    elif meaning("sandbox-status", status) is Meaning.DENY:
        heard.refuse(native, tool)
    else:
        heard.words("tool.permission.resolved", native, f"{word(data, 'action')}: {status}")


def _questions(heard: Heard, native: str, data: Fields) -> None:
    options = data.get("options")
    offered = f" ({', '.join(map(text, options))})" if isinstance(options, list) else ""
    heard.words("question", native, f"{word(data, 'prompt')}{offered}")


def _question_over(heard: Heard, native: str, data: Fields) -> None:
    answer = text(data.get("response")) or word(data, "status")
    heard.words("notice", native, f"{word(data, 'prompt')}: {answer}")


def _error(heard: Heard, native: str, data: Fields) -> None:
    code: Any = data.get("code")
    heard.words("notice", native, f"{word(data, 'message')}{f' ({text(code)})' if code else ''}")


def _unparsed(heard: Heard, native: str, data: Fields) -> None:
    heard.say("unknown", native, Unknown(why=word(data, "error"), text=rest(data, ("error",))))


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

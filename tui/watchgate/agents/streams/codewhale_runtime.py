"""CodeWhale's runtime events and its outbox: its only forms with a session and a number.

They come in one envelope, `schema_version`, `seq` and `event`; the runtime's has a thread, and
`previous_seq` where numbers in between were for others. Approvals are answered over its HTTP API.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from watchgate.agents.decision_words import decided
from watchgate.agents.streams.codewhale_sink import AGENT, codewhale_tool
from watchgate.agents.streams.line_events import (
    Fields,
    LineEvents,
    folder,
    name,
    rest,
    table,
    whole,
    word,
)
from watchgate.agents.streams.stream_source import Source
from watchgate.core import codewhale
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event, Kind, Usage

_ENVELOPE = frozenset(
    """schema_version seq previous_seq event kind thread_id session_id turn_id item_id timestamp
    created_at""".split()
)


def fits(fields: Fields) -> bool:
    """Returns whether a line is such an envelope."""
    return "schema_version" in fields and "seq" in fields and bool(word(fields, "event"))


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """Returns the events of one line."""
    native = name(fields, "event")
    sent_us = codewhale.read_stamp(word(fields, "timestamp", "created_at"))
    line = LineEvents(source, at, agent=AGENT, session=_session(fields, source), sent_us=sent_us)
    _in_order(line, fields)
    line.session.cwd = folder(fields, "workspace", "cwd") or line.session.cwd
    payload = table(fields, "payload") or {
        key: value for key, value in fields.items() if key not in _ENVELOPE
    }
    turn = name(fields, "turn_id")
    step = _STEPS.get(native)
    if step is not None:
        line.session.turn = turn or line.session.turn
        step(line, native, payload)
    else:
        line.add_text(_KINDS.get(native, "notice"), native, rest(payload))
    return line.events


def _session(fields: Fields, source: Source) -> str:
    """Returns the line's session: an event that is named after its turn is the known session's."""
    named = name(fields, "thread_id", "session_id")
    if source.session and named in ("", name(fields, "turn_id")):
        return source.session
    source.session = named or source.session
    return source.session


def _in_order(line: LineEvents, fields: Fields) -> None:
    """Notes a gap in the numbers, which are the source's, whatever thread they are for."""
    seq, previous = whole(fields, "seq"), whole(fields, "previous_seq")
    last = line.source.seq
    if seq is None:
        return
    line.source.seq = seq
    if last is None:
        return
    if seq <= last:
        line.add_text("notice", "stream.order", f"event {seq} came after event {last}")
        return
    before = seq - 1 if previous is None else previous
    if before > last:
        line.add_gap(last + 1, before)


def _asks(line: LineEvents, native: str, payload: Fields) -> None:
    question_id = name(payload, "approval_id", "id")
    copied = ("command", "description", "intent_summary", "matched_rule")
    args = {key: payload[key] for key in copied if payload.get(key) is not None}
    line.ask_permission(
        native, question_id, codewhale_tool(word(payload, "tool_name"), args, question_id)
    )


def _times_out(line: LineEvents, native: str, payload: Fields) -> None:
    waited = whole(payload, "timeout_secs")
    within = "in time" if waited is None else f"within {waited} s"
    notice = (
        f"approval {word(payload, 'approval_id')}: nobody decided {within}, CodeWhale denies it"
    )
    line.add_text("notice", native, notice)


def _decided(line: LineEvents, native: str, payload: Fields) -> None:
    """Adds a decision made there; a remembered one opens the whole thread, not that command."""
    question_id = name(payload, "approval_id")
    tool = line.session.asked.pop(question_id, None)
    meant = decided("codewhale-runtime", payload.get("decision"))
    if not meant.allows and tool is not None:
        line.refuse_call(native, tool)
        return
    notice = f"approval {question_id}: {word(payload, 'decision') or 'no decision, so denied'}"
    if meant.allows and payload.get("remember") is True:
        notice += "; remembered: CodeWhale asks for no call of this thread any more"
    line.add_text("tool.permission.resolved", native, notice)


def _turn_starts(line: LineEvents, native: str, payload: Fields) -> None:
    line.session.turn = line.session.turn or str(line.session.turns + 1)
    line.add_text("model.request", native, rest(payload))


def _submits(line: LineEvents, native: str, payload: Fields) -> None:
    _conversation(line, native, payload)
    line.add_text("prompt.submit", native, rest(payload, ("total_tokens",)))


def _conversation(line: LineEvents, native: str, payload: Fields) -> None:
    """Adds all tokens of the conversation so far, of which nobody says what they were."""
    total = whole(payload, "total_tokens")
    if total is None:
        total = whole(table(payload, "totals"), "session_tokens")
    if total is not None:
        model = word(payload, "model") or None
        line.add("usage", f"{native}/usage", Usage(total=total, model=model, counts="total"))


def _turn_ends(line: LineEvents, native: str, payload: Fields) -> None:
    used = table(payload, "usage")
    if used:
        usage = Usage(
            input=whole(used, "input_tokens"),
            output=whole(used, "output_tokens"),
            cache_read=whole(used, "prompt_cache_hit_tokens"),
            cache_write=whole(used, "prompt_cache_write_tokens"),
            reasoning=whole(used, "reasoning_tokens"),
            model=word(payload, "model") or None,
            cached_within=True,
        )
        line.add("usage", f"{native}/usage", usage)
    else:
        _conversation(line, native, payload)
    line.add_text("turn.end", native, rest(payload, ("usage", "totals", "total_tokens")))
    line.session.end_turn()


def _turn_fails(line: LineEvents, native: str, payload: Fields) -> None:
    line.add_text("turn.error", native, word(payload, "error", "message") or rest(payload))
    line.session.end_turn()


def _session_starts(line: LineEvents, native: str, payload: Fields) -> None:
    line.add_change("session.start", native, "started", rest(payload))


def _session_ends(line: LineEvents, native: str, payload: Fields) -> None:
    line.add_change("session.end", native, word(payload, "reason") or "ended")
    line.session.end_turn()


_KINDS: Final[dict[str, Kind]] = {"message": "message"}
_STEPS: Final[dict[str, Callable[[LineEvents, str, Any], None]]] = {
    "approval.required": _asks,
    "approval.timeout": _times_out,
    "approval.decided": _decided,
    "turn.started": _turn_starts,
    "turn_start": _turn_starts,
    "message_submit": _submits,
    "turn.completed": _turn_ends,
    "turn_end": _turn_ends,
    "turn.failed": _turn_fails,
    "session_start": _session_starts,
    "session_end": _session_ends,
}

"""CodeWhale's runtime events and its outbox: the only forms of it with a session and a number.

They come in one envelope, `schema_version`, `seq` and `event`; the runtime's has a thread, and
`previous_seq` where numbers in between were for others. Approvals are answered over its HTTP API.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from watchgate.agents.decision_words import decided
from watchgate.agents.streams import codewhale_tools as tools
from watchgate.agents.streams.codewhale_sink import AGENT
from watchgate.agents.streams.fields import Fields, folder, name, rest, table, whole, word
from watchgate.agents.streams.heard import Heard
from watchgate.agents.streams.source import Source
from watchgate.core.clock import Instant
from watchgate.core.codewhale import stamps
from watchgate.core.events import Event, Kind, Usage

_ENVELOPE = frozenset(
    """schema_version seq previous_seq event kind thread_id session_id turn_id item_id timestamp
    created_at""".split()
)


def fits(fields: Fields) -> bool:
    """Whether a line is such an envelope."""
    return "schema_version" in fields and "seq" in fields and bool(word(fields, "event"))


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """The events of one line."""
    native = name(fields, "event")
    said_us = stamps.read(word(fields, "timestamp", "created_at"))
    heard = Heard(source, at, agent=AGENT, session=_session(fields, source), said_us=said_us)
    _in_order(heard, fields)
    heard.seen.cwd = folder(fields, "workspace", "cwd") or heard.seen.cwd
    payload = table(fields, "payload") or {
        key: value for key, value in fields.items() if key not in _ENVELOPE
    }
    turn = name(fields, "turn_id")
    step = _STEPS.get(native)
    if step is not None:
        heard.seen.turn = turn or heard.seen.turn
        step(heard, native, payload)
    else:
        heard.words(_KINDS.get(native, "notice"), native, rest(payload))
    return heard.events


def _session(fields: Fields, source: Source) -> str:
    """One session has one name: an event that is named after its turn is the known session's."""
    named = name(fields, "thread_id", "session_id")
    if source.session and named in ("", name(fields, "turn_id")):
        return source.session
    source.session = named or source.session
    return source.session


def _in_order(heard: Heard, fields: Fields) -> None:
    """Numbers are the source's, whatever thread they are for."""
    seq, previous = whole(fields, "seq"), whole(fields, "previous_seq")
    last = heard.source.seq
    if seq is None:
        return
    heard.source.seq = seq
    if last is None:
        return
    if seq <= last:
        heard.words("notice", "stream.order", f"event {seq} came after event {last}")
        return
    before = seq - 1 if previous is None else previous
    if before > last:
        heard.gap(last + 1, before)


def _asks(heard: Heard, native: str, payload: Fields) -> None:
    question_id = name(payload, "approval_id", "id")
    kept = ("command", "description", "intent_summary", "matched_rule")
    args = {key: payload[key] for key in kept if payload.get(key) is not None}
    heard.ask(native, question_id, tools.tool(word(payload, "tool_name"), args, question_id))


def _times_out(heard: Heard, native: str, payload: Fields) -> None:
    waited = whole(payload, "timeout_secs")
    within = "in time" if waited is None else f"within {waited} s"
    said = f"approval {word(payload, 'approval_id')}: nobody decided {within}, CodeWhale denies it"
    heard.words("notice", native, said)


def _decided(heard: Heard, native: str, payload: Fields) -> None:
    """A decision made there; one that is remembered opens the whole thread, not that command."""
    question_id = name(payload, "approval_id")
    tool = heard.seen.asked.pop(question_id, None)
    meant = decided("codewhale-runtime", payload.get("decision"))
    if not meant.allows and tool is not None:
        heard.refuse(native, tool)
        return
    said = f"approval {question_id}: {word(payload, 'decision') or 'no decision, so denied'}"
    if meant.allows and payload.get("remember") is True:
        said += "; remembered: CodeWhale asks for no call of this thread any more"
    heard.words("tool.permission.resolved", native, said)


def _turn_starts(heard: Heard, native: str, payload: Fields) -> None:
    heard.seen.turn = heard.seen.turn or str(heard.seen.turns + 1)
    heard.words("model.request", native, rest(payload))


def _submits(heard: Heard, native: str, payload: Fields) -> None:
    _conversation(heard, native, payload)
    heard.words("prompt.submit", native, rest(payload, ("total_tokens",)))


def _conversation(heard: Heard, native: str, payload: Fields) -> None:
    """All tokens of the conversation so far, of which nobody says what they were."""
    total = whole(payload, "total_tokens")
    if total is None:
        total = whole(table(payload, "totals"), "session_tokens")
    if total is not None:
        model = word(payload, "model") or None
        heard.say("usage", f"{native}/usage", Usage(total=total, model=model, counts="total"))


def _turn_ends(heard: Heard, native: str, payload: Fields) -> None:
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
        heard.say("usage", f"{native}/usage", usage)
    else:
        _conversation(heard, native, payload)
    heard.words("turn.end", native, rest(payload, ("usage", "totals", "total_tokens")))
    heard.seen.turn_over()


def _turn_fails(heard: Heard, native: str, payload: Fields) -> None:
    heard.words("turn.error", native, word(payload, "error", "message") or rest(payload))
    heard.seen.turn_over()


def _session_starts(heard: Heard, native: str, payload: Fields) -> None:
    heard.changed("session.start", native, "started", rest(payload))


def _session_ends(heard: Heard, native: str, payload: Fields) -> None:
    heard.changed("session.end", native, word(payload, "reason") or "ended")
    heard.seen.turn_over()


_KINDS: Final[dict[str, Kind]] = {"message": "message"}
_STEPS: Final[dict[str, Callable[[Heard, str, Any], None]]] = {
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

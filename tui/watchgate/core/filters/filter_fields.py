"""A record as the filter language reads it, and as one line of text.

- The filter language on recorded calls.
- A call of the live table as the filter language reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from watchgate.core.filters.filter_parser import Filter, Getter, Value
from watchgate.core.history.history_row import (
    HistoryRow,
    decider_names,
    host_of,
    session_names,
    states_of,
)
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.outcomes import shown_word
from watchgate.core.model.records import Record
from watchgate.core.state.asked_call import line_of
from watchgate.core.state.hosts import own_id


def _history_text(row: HistoryRow) -> str:
    return f"{line_of(row)}  {row.outcome}  {row.by}  {row.reason}  {row.rule}  {row.why}"


def _history_decider(row: HistoryRow) -> Value:
    """Names the decider as the screen and as the record do: `you` have a name, too."""
    shown = decider_names(row.by.replace(",", " "), row.word) or ()
    return (*shown, *(decider_names(row.decider, row.word) or ())) or None


_GETTERS: Final[dict[str, Getter[HistoryRow]]] = {
    "agent": lambda row: row.agent,
    "session": lambda row: session_names(row.label, row.session),
    "host": lambda row: host_of(row.session),
    "tool": lambda row: row.tool,
    "kind": lambda _row: "tool.pre",
    "lane": lambda row: row.lane or None,
    "risk": lambda row: row.risk,
    "state": lambda row: row.state,
    "rule": lambda row: row.rule or None,
    "by": _history_decider,
    "request": lambda row: row.request,
    "call": lambda row: row.call,
    "took": lambda row: row.took_ms,
    "waited": lambda row: round(row.waited_s * 1000) if row.word else None,
    "at": lambda row: row.at,
    "text": _history_text,
}


def history_test(wanted: Filter) -> Callable[[HistoryRow], bool]:
    """Returns the test of a recorded call that a filter means.

    A session goes by its label and by its id.
    """
    return wanted.over(_GETTERS) or (lambda _row: True)


def _row_state(row: CallRow) -> Value:
    return (row.stage, *states_of(row.word)) if row.word else row.stage


def _row_decider(row: CallRow) -> Value:
    return decider_names("", row.word) if row.word else None


ROW_FIELDS: Final[Mapping[str, Getter[CallRow]]] = {
    "agent": lambda row: row.agent,
    "session": lambda row: session_names(row.label, row.session),
    "host": lambda row: host_of(row.session),
    "tool": lambda row: row.tool,
    "kind": lambda _row: "tool.pre",
    "lane": lambda row: row.lane or None,
    "risk": lambda row: row.risk,
    "state": _row_state,
    "rule": lambda row: row.rule or None,
    "by": _row_decider,
    "request": lambda row: row.request and (row.request, own_id(row.request)),
    "call": lambda row: row.call,
    "took": lambda row: row.took_ms,
    "waited": lambda row: row.waited_ms,
    "at": lambda row: row.at,
    "text": line_of,
}
"""The function that reads each field of a row."""


SHOWN_CHARS: Final = 8
"""Characters of a session's id that a line for people shows."""

_DETAIL_CHARS = 160
_GATES: Final = {"held": ("held", "pending"), "handback": ("handback", "handed back")}
_IGNORED_VERDICTS = ("allow", "defer", "inject")


def record_values(record: Record) -> dict[str, Value]:
    """Returns the fields that a filter can name; `text` is all that bare words look into."""
    return {key: get(record) for key, get in RECORD_FIELDS.items()}


def record_text(record: Record) -> str:
    """Returns the content of a record in one line."""
    data: dict[str, Any] = record.data
    if record.kind == "hook.trace":
        return _trace_words(data)
    if record.kind.startswith("grant."):
        return _grant_words(data)
    asked = f"asked: {data['asked']}" if data.get("asked") else ""
    parts = (
        data.get("summary"),
        asked,
        data.get("gate"),
        shown_word(str(data.get("word") or ""), str(data.get("by") or "operator")),
        data.get("by"),
        data.get("alarm"),
        data.get("what"),
        data.get("detail"),
        data.get("text"),
        data.get("undecoded"),
        data.get("reason"),
        data.get("decision"),
    )
    return "  ".join(str(part) for part in parts if part)


def _grant_words(data: dict[str, Any]) -> str:
    """Returns a grant's id, what it lets run, and what became of it; of a later version in part."""
    id = str(data.get("id") or data.get("grant") or "")
    hits = data.get("hits")
    parts = (
        f"#{id[:4]}",
        data.get("scope"),
        data.get("summary"),
        f"used {hits} x" if hits else "",
        data.get("by"),
        data.get("why"),
    )
    return "  ".join(str(part) for part in parts if part)


def _trace_words(data: dict[str, Any]) -> str:
    """Returns the call, its hooks' decision, and what each of them did and for how long."""
    made, by = data.get("decision", "none"), data.get("decided_by")
    if made != "none" and by:
        made = f"{made} by {by}"
    if data.get("effect") == "view":
        made = "only watched" if made == "none" else f"only watched, {made} prevented nothing"
    rows = "; ".join(_row_words(row) for row in data.get("rows", ()))
    outcome = f"{made}, {data.get('took_ms', 0):.0f} ms: {rows}" if rows else made
    return "  ".join(filter(None, (data.get("summary") or data.get("native"), outcome)))


def _row_words(row: dict[str, Any]) -> str:
    took, detail = row.get("duration_ms"), row.get("why") or row.get("detail", "")
    verdict = row.get("verdict") if row.get("status", "ran") == "ran" else row.get("status")
    if row.get("role") != "gate" and verdict in _IGNORED_VERDICTS:
        detail = ""
    words = f"{row.get('handler')} {verdict}" + (f" {took:.0f} ms" if took is not None else "")
    return f"{words} ({detail[:_DETAIL_CHARS]})" if detail else words


def _tool(record: Record) -> Value:
    tool = record.data.get("tool")
    return (tool.get("name") if isinstance(tool, dict) else _text(tool)) or None


def _session(record: Record) -> Value:
    """Returns the session's id, and the beginning of it that lines for people show."""
    return (record.session, record.session[:SHOWN_CHARS]) if record.session else None


def _state(record: Record) -> Value:
    data, kind = record.data, record.kind
    if kind == "approval.requested":
        return "pending"
    if kind == "effect.ungated" or data.get("ungated") is True:
        return "ran ungated"
    if kind in ("tool.post", "tool.error"):
        return "done" if data.get("ok") is True else "failed"
    gate, word = _text(data.get("gate")), _text(data.get("word"))
    return (*states_of(word), *_GATES.get(gate, (gate,)), _text(data.get("alarm")))


def _by(record: Record) -> Value:
    data = record.data
    return decider_names(
        _text(data.get("by")) or _text(data.get("decided_by")), _text(data.get("word"))
    )


def _took_ms(record: Record) -> Value:
    took = record.data.get("took_ms")
    return int(took) if isinstance(took, int | float) else None


def _waited_ms(record: Record) -> Value:
    waited_s = record.data.get("waited_s")
    return int(waited_s * 1000) if isinstance(waited_s, int | float) else None


def _of_data(name: str) -> Getter[Record]:
    return lambda record: _text(record.data.get(name)) or None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


RECORD_FIELDS: Final[Mapping[str, Getter[Record]]] = {
    "agent": lambda record: record.agent,
    "session": _session,
    "kind": lambda record: record.kind,
    "tool": _tool,
    "lane": _of_data("lane"),
    "risk": _of_data("risk"),
    "state": _state,
    "rule": _of_data("rule"),
    "by": _by,
    "request": lambda record: record.request,
    "call": lambda record: record.call,
    "took": _took_ms,
    "waited": _waited_ms,
    "at": lambda record: record.at,
    "text": record_text,
}
"""The function that reads each field of a record; a record has no `host`."""

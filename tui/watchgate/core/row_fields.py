"""A call of the live table as the filter language reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from watchgate.core.as_asked import line_of
from watchgate.core.filter_terms import Getter, Value
from watchgate.core.hosts import own_id
from watchgate.core.views import CallRow
from watchgate.core.word_fields import by_names, host_of, session_names, states_of


def _state(row: CallRow) -> Value:
    return (row.stage, *states_of(row.word)) if row.word else row.stage


def _by(row: CallRow) -> Value:
    return by_names("", row.word) if row.word else None


ROW_FIELDS: Final[Mapping[str, Getter[CallRow]]] = {
    "agent": lambda row: row.agent,
    "session": lambda row: session_names(row.label, row.session),
    "host": lambda row: host_of(row.session),
    "tool": lambda row: row.tool,
    "kind": lambda _row: "tool.pre",
    "lane": lambda row: row.lane or None,
    "risk": lambda row: row.risk,
    "state": _state,
    "rule": lambda row: row.rule or None,
    "by": _by,
    "request": lambda row: row.request and (row.request, own_id(row.request)),
    "call": lambda row: row.call,
    "took": lambda row: row.took_ms,
    "waited": lambda row: row.waited_ms,
    "at": lambda row: row.at,
    "text": line_of,
}
"""How each field of a row is read."""

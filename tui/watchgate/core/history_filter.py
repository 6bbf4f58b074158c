"""The filter language on recorded calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from watchgate.core.as_asked import line_of
from watchgate.core.filter_terms import Getter, Value
from watchgate.core.filters import Filter
from watchgate.core.history_row import HistoryRow
from watchgate.core.word_fields import by_names, host_of, session_names


def _text(row: HistoryRow) -> str:
    return f"{line_of(row)}  {row.outcome}  {row.by}  {row.reason}  {row.rule}  {row.why}"


def _by(row: HistoryRow) -> Value:
    """Names the decider as the screen and as the record do: `you` have a name, too."""
    shown = by_names(row.by.replace(",", " "), row.word) or ()
    return (*shown, *(by_names(row.decider, row.word) or ())) or None


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
    "by": _by,
    "request": lambda row: row.request,
    "call": lambda row: row.call,
    "took": lambda row: row.took_ms,
    "waited": lambda row: round(row.waited_s * 1000) if row.word else None,
    "at": lambda row: row.at,
    "text": _text,
}


def keeping(wanted: Filter) -> Callable[[HistoryRow], bool]:
    """Returns the test of a recorded call that a filter means.

    A session goes by its label and by its id.
    """
    return wanted.over(_GETTERS) or (lambda _row: True)

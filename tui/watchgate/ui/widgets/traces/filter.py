"""The calls that have traces: one line each, the newest at the bottom, narrowed by a filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from watchgate.core.filter_terms import Filter, Getter, Value
from watchgate.core.row_fields import ROW_FIELDS
from watchgate.core.traces import TracedCall, TraceView, decided_in_ms
from watchgate.core.views import CallRow
from watchgate.core.word_fields import by_names, host_of, session_names
from watchgate.ui.widgets.traces.words import verdict, why_ignored, why_skipped

Keep = Callable[[TracedCall, CallRow | None], bool]
Traced = tuple[TraceView, CallRow | None]
"""One dispatch, and the row of its call where there is one."""


def matching(wanted: Filter) -> Keep | None:
    """Returns the test of a call that a filter means; None when everything passes.

    Bare words look into the call, and into the names and words of its handlers.
    """
    fits = wanted.over(_TRACE_FIELDS)
    if fits is None:
        return None
    return lambda call, row: any(fits((trace, row)) for trace in call.traces)


def _of_row(name: str) -> Getter[Traced]:
    get = ROW_FIELDS[name]
    return lambda traced: get(traced[1]) if traced[1] is not None else None


def _by(traced: Traced) -> Value:
    """Returns the handler that decided, and who ended the call's question."""
    trace, row = traced
    return by_names(trace.data.decided_by or "", row.word if row is not None else "")


def _text(traced: Traced) -> str:
    data = traced[0].data
    words = [data.native, data.summary, data.reason]
    for row in data.rows:
        words += (row.handler, verdict(row, data), row.detail)
        words.append(why_skipped(row) if row.status == "skipped" else why_ignored(row))
    return "  ".join(words)


_TRACE_FIELDS: Final[Mapping[str, Getter[Traced]]] = {
    **{name: _of_row(name) for name in ("lane", "risk", "state", "rule", "request")},
    "agent": lambda traced: traced[0].agent,
    "session": lambda traced: session_names(traced[0].label, traced[0].session),
    "host": lambda traced: host_of(traced[0].session),
    "tool": lambda traced: traced[0].data.tool or None,
    "kind": lambda traced: (traced[0].data.kind, "hook.trace"),
    "by": _by,
    "call": lambda traced: traced[0].call or None,
    "waited": _of_row("waited"),
    "took": lambda traced: int(decided_in_ms(traced[0].data)),
    "at": lambda traced: traced[0].at,
    "text": _text,
}

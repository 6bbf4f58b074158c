"""The filter language on traces: a call is kept when any of its dispatches fits."""

from __future__ import annotations

from collections.abc import Callable

from watchgate.core.filters import Filter
from watchgate.core.traces import TracedCall, TraceView
from watchgate.core.views import CallRow
from watchgate.ui.widgets.trace_words import verdict, why_ignored, why_skipped

Keep = Callable[[TracedCall, CallRow | None], bool]


def matching(wanted: Filter) -> Keep | None:
    """The test of a call that a filter means; None when it keeps everything.

    Bare words look into the call, and into the names and words of its handlers.
    """
    if not wanted.terms:
        return None
    return lambda call, row: any(wanted.matches(_fields(trace, row)) for trace in call.traces)


def _fields(trace: TraceView, row: CallRow | None) -> dict[str, str]:
    return {
        "agent": trace.agent,
        "session": trace.label,
        "tool": trace.data.tool,
        "kind": trace.data.kind,
        "risk": row.risk if row is not None else "",
        "state": row.stage if row is not None else "",
        "request": (row.request or "") if row is not None else "",
        "text": _text(trace),
    }


def _text(trace: TraceView) -> str:
    data = trace.data
    words = [data.native, data.summary, data.reason]
    for row in data.rows:
        words += (row.handler, verdict(row, data), row.detail)
        words.append(why_skipped(row) if row.status == "skipped" else why_ignored(row))
    return "  ".join(words)

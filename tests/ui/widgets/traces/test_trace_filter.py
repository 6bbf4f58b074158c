"""The filter language on traces takes the same keys as everywhere."""

from __future__ import annotations

import pytest

from tests.ui.requests import row
from tests.ui.trace_picture import REFUSED, call_of, view
from watchgate.core.filters.filter_keys import KEYS, TEXT
from watchgate.core.filters.filter_parser import parse
from watchgate.core.model.call_row import CallRow
from watchgate.core.state.traces import TracedCall, TraceView
from watchgate.ui.widgets.traces.trace_list import _TRACE_FIELDS, matching

TRACE = view("12:02:38", "ci", REFUSED, call=call_of("12:02:38"))
ROW = row(risk="critical", stage="denied", word="denied-by-rule", lane="gate", rule="git.push")


def _call(*traces: TraceView) -> TracedCall:
    return TracedCall(key=traces[0].key, traces=traces)


def _keeps(text: str, call_row: CallRow | None) -> bool:
    keep = matching(parse(text, now_us=TRACE.at + 60_000_000))
    assert keep
    return keep(_call(TRACE), call_row)


def test_traces_tell_all_that_the_language_names() -> None:
    named = {name for name, key in KEYS.items() if not key.timed}
    assert set(_TRACE_FIELDS) == named | {TEXT, "at"}


@pytest.mark.parametrize(
    "text",
    [
        "session:ci",
        "kind:hook.trace kind:tool.*",
        "risk>=high state:denied state:denied-by-rule by:rule",
        "lane:gate rule:git.push",
        f"by:{REFUSED.decided_by} tool:{REFUSED.tool}",
        "took>=0ms since:2m -since:30s -host:lab2",
        REFUSED.rows[0].handler,
    ],
)
def test_a_call_is_found(text: str) -> None:
    assert _keeps(text, ROW)


@pytest.mark.parametrize("text", ["risk:*", "state:*", "lane:gate", "took>10m", "until:10m"])
def test_an_event_without_a_call_has_no_fields_of_one(text: str) -> None:
    assert not _keeps(text, None)
    assert _keeps("-" + text, None)


def test_without_a_filter_everything_is_kept() -> None:
    assert matching(parse("")) is None

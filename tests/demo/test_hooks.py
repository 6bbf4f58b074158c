"""The demo's hooks take their time, and decide nothing."""

from __future__ import annotations

from watchgate.core.state.state import State
from watchgate.core.state.traces import TracedCall, group_traces
from watchgate.demo.demo_play import HANDLERS, START_WALL_US, live, play

TESTS = "uv run pytest -q tests/api"


def calls(until_s: float) -> list[TracedCall]:
    """The traced calls of the demo up to then."""
    state = State()
    for record in play(until_s):
        state.apply(record)
    return group_traces(state.traces.ring)


def test_every_call_of_the_demo_is_traced() -> None:
    traced = calls(48)
    assert len(traced) == 24
    assert all(call.traces[0].at >= START_WALL_US for call in traced)


def test_the_formatter_is_slow_where_the_tests_run() -> None:
    (call,) = (call for call in calls(48) if call.summary == TESTS)
    rows = {row.handler: row for trace in call.traces for row in trace.data.rows}
    assert rows["./hooks/fmt.sh"].duration_ms == 214.0
    assert rows["policy"].start_ms == 240.5
    assert call.took_ms == 240.8, "until the policy had spoken"
    assert (rows["no-force-push"].why, rows["budget"].why) == ("matcher", "disabled")
    assert rows["notify"].verdict == "failed"
    assert rows["notify"].detail.endswith("timeout: no answer in 0.2 s")


def test_what_is_decided_is_the_policys_and_the_operators_affair() -> None:
    deciding = {call.decisive.decided_by for call in calls(48) if call.decisive.decision != "none"}
    assert deciding == {"policy"}


def test_a_live_core_gets_the_same_handlers() -> None:
    assert tuple(handler for handler, _ in live(1.0)) == HANDLERS

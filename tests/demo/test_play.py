from __future__ import annotations

from watchgate.core.records import Record
from watchgate.core.state import State
from watchgate.demo.play import play
from watchgate.demo.script import script

FORCE_PUSH = "toolu_demo_12"
PIPE_TO_SHELL = "toolu_demo_20"


def _state(records: list[Record]) -> State:
    state = State()
    for record in records:
        state.apply(record)
    return state


def test_two_runs_are_equal_to_the_byte() -> None:
    assert play(120) == play(120)


def test_the_first_minute_has_a_high_and_then_a_critical_request() -> None:
    pending = _state(play(48)).by_deadline()
    assert [view.data.risk for view in pending] == ["high", "critical"]
    assert pending[0].at < pending[1].at


def test_silence_runs_out_into_a_denial_and_the_call_never_runs() -> None:
    state = _state(play(100))
    row = next(row for row in state.rows if row.call == PIPE_TO_SHELL)
    assert (row.glyph, row.stage) == ("T", "timed out")


def test_an_allowed_call_runs_and_a_denied_one_does_not() -> None:
    state = _state(play(44, {FORCE_PUSH: (0.5, "allow"), PIPE_TO_SHELL: (3.0, "deny")}))
    rows = {row.call: row for row in state.rows}
    assert (rows[FORCE_PUSH].glyph, rows[FORCE_PUSH].stage) == ("+", "done")
    assert (rows[PIPE_TO_SHELL].glyph, rows[PIPE_TO_SHELL].stage) == ("x", "denied")


def test_no_text_of_the_script_reaches_out_of_the_invented_home() -> None:
    for step in script():
        path = step.payload.get("tool_input", {}).get("file_path", "/home/dev/")
        assert path.startswith("/home/dev/")


def test_every_session_costs_only_what_it_reported() -> None:
    costs = {view.label: view.cost_usd for view in _state(play(60)).sessions.values()}
    assert costs == {"api-fix": 0.77, "docs": 0.12, "ci": 0.31, "web": None}

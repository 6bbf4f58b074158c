from __future__ import annotations

from watchgate.core.model.records import Record
from watchgate.core.state.state import State
from watchgate.demo.demo_play import START_WALL_US, play
from watchgate.demo.demo_script import script

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


def test_one_agent_reports_its_cost_and_the_others_have_computed_ones() -> None:
    state = _state(play(60))
    told = {view.label: view.cost_usd for view in state.sessions.values()}
    assert told == {"api-fix": 0.77, "docs": None, "ci": None, "web": None}
    used = {each.label: each for each in state.usage.sessions.values()}
    assert [used[name].source for name in ("api-fix", "docs", "ci")] == [
        "reported", "computed", "computed",
    ]  # fmt: skip
    assert used["api-fix"].cost == 770_000_000
    assert used["api-fix"].computed_cost == 772_800_000
    assert "web" not in used


def test_what_transcripts_tell_in_the_demo_has_turns_sub_agents_calls_and_limits() -> None:
    state = _state(play(100))
    usage = state.usage
    api = next(each for each in usage.sessions.values() if each.label == "api-fix")
    assert [sub.sub for sub in api.subs] == ["explore", "tests"]
    assert len(api.turns) == 10
    assert usage.limits["claude"].limits[0].used_percent == 42.0
    asked = usage.tool_cost(api.agent, api.session, PIPE_TO_SHELL)
    assert asked is not None
    assert asked.shared == 1
    today = usage.day_of(START_WALL_US)
    assert {part.day for part in usage.spent} >= {today - 13, today}

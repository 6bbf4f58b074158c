"""Hook traces as a state keeps them: bounded, grouped by call, and claiming only what happened."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.core.state.test_restore import CALL, NOON_US
from watchgate.core.filters.filter_fields import record_text
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import Record, TraceData
from watchgate.core.model.verdicts import Run, TraceRow
from watchgate.core.state.restore import restore
from watchgate.core.state.state import State
from watchgate.core.state.traces import (
    DAY_US,
    MAX_TRACES,
    STREAM_CHARS,
    TEXT_CHARS,
    TraceView,
    ended_by,
    group_traces,
    hidden_by,
    percentile,
    shown_by,
    slowest,
)


def gate(handler: str, ms: float = 1.0, said: str = "defer", **more: Any) -> TraceRow:
    """A gate that was asked."""
    return TraceRow(
        handler=handler,
        role="gate",
        status="ran",
        verdict=said,
        start_ms=0,
        duration_ms=ms,
        **more,
    )


def data(*rows: TraceRow, **fields: Any) -> TraceData:
    """The trace of a tool call's gate."""
    known: dict[str, Any] = {
        "native": "PreToolUse",
        "kind": "tool.pre",
        "decision": "none",
        "tool": "Bash",
        "summary": "make",
    }
    return TraceData(rows=rows, **known | fields)


def record(seq: int, trace: TraceData, call: str | None = "c1", at: int = NOON_US) -> Record:
    """The record of a trace, as it comes from a journal or over a socket."""
    return Record(
        v=1,
        seq=seq,
        core="core",
        at=at + seq,
        kind="hook.trace",
        agent="claude",
        session="s1",
        call=call,
        data=msgspec.to_builtins(trace),
    )


def called(seq: int, call: str = "c1") -> Record:
    """The record of the call itself."""
    raw = record(seq, data(), call)
    return msgspec.structs.replace(raw, kind="tool.pre", data=CALL)


def after(*records: Record) -> State:
    """The state that these records lead to."""
    state = State()
    for each in records:
        state.apply(each)
    return state


def row_of(state: State) -> CallRow:
    """The only call."""
    return state.rows[state.rows.first]


def test_sa_b10_a_hooks_result_is_kept_with_its_call_and_not_only_in_a_log() -> None:
    said = gate("fmt", 214, run=Run(exit_code=3, stderr="no ruff", stdin_bytes=612))
    state = after(called(1), record(2, data(said)))
    (kept,) = state.traces.ring
    assert kept.data.rows == (said,)
    assert (kept.agent, kept.session, kept.call, kept.label) == ("claude", "s1", "c1", "api")


def test_cx_b15_a_handler_that_was_skipped_is_a_row_with_its_reason() -> None:
    skipped = TraceRow(handler="notify", role="gate", status="skipped", why="disabled")
    state = after(record(1, data(skipped)))
    (kept,) = state.traces.ring
    assert (kept.data.rows[0].status, kept.data.rows[0].why) == ("skipped", "disabled")


def test_the_dispatches_of_a_call_are_one_line_and_an_event_without_a_call_is_its_own() -> None:
    post = data(native="PostToolUse", kind="tool.post")
    prompt = data(native="UserPromptSubmit", kind="prompt.submit", tool="", summary="")
    state = after(
        record(1, data(took_ms=3.0)),
        record(2, data(), "c2"),
        record(3, prompt, None),
        record(4, post),
        record(5, prompt, None),
    )
    lines = group_traces(state.traces.ring)
    assert [[t.seq for t in line.traces] for line in lines] == [[1, 4], [2], [3], [5]]
    assert [line.tool for line in lines] == ["Bash", "Bash", "UserPromptSubmit", "UserPromptSubmit"]
    assert lines[0].took_ms == 3.0


def test_the_newest_traces_are_kept_and_the_oldest_let_go() -> None:
    state = after(*(record(n, data(), f"c{n}") for n in range(1, MAX_TRACES + 11)))
    assert len(state.traces.ring) == MAX_TRACES
    assert state.traces.ring[state.traces.ring.first].seq == 11


def test_what_a_child_wrote_is_kept_with_its_beginning_and_its_end() -> None:
    loud = gate("fmt", run=Run(stderr="first" + "x" * 50_000 + "last", exit_code=1))
    (kept,) = after(record(1, data(loud))).traces.ring
    stderr = kept.data.rows[0].run.stderr
    assert len(stderr) < 2 * STREAM_CHARS
    assert stderr.startswith("first")
    assert stderr.endswith("last")
    assert "48,985 characters left out" in stderr
    assert kept.data.rows[0].run.exit_code == 1


def test_calls_without_an_id_of_two_cores_are_two_lines() -> None:
    started = Record(v=1, seq=2, core="core", at=NOON_US, kind="policy.started", data={})
    state = after(record(1, data(), "~1"), started, record(3, data(), "~1"))
    assert len(group_traces(state.traces.ring)) == 2


def test_a_trace_that_cannot_be_read_is_counted_and_changes_nothing() -> None:
    broken = msgspec.structs.replace(record(1, data()), data={"rows": 5})
    state = after(broken)
    assert (len(state.traces.ring), state.skipped) == (0, 1)


def test_a_state_restored_from_a_snapshot_has_the_same_lines() -> None:
    state = after(called(1), record(2, data(gate("a"))), record(3, data(), None))
    kept = msgspec.json.encode(tuple(state.traces.ring))
    again = restore(
        seq=3,
        core="core",
        at=state.at,
        gate=state.gate,
        traces=msgspec.json.decode(kept, type=tuple[TraceView, ...]),
    )
    assert group_traces(again.traces.ring) == group_traces(state.traces.ring)


def test_sd_14_a_denial_that_is_about_the_view_hides_the_call_and_says_so() -> None:
    hides = data(
        gate("no-secrets", said="block"),
        decision="deny",
        decided_by="no-secrets",
        preset="sdk-first-match",
        effect="view",
    )
    state = after(called(1), record(2, hides))
    assert row_of(state).hidden_by == "no-secrets"
    assert (row_of(state).stage, row_of(state).glyph) == ("running", "")


def test_sd_b9_hiding_leaves_the_call_and_its_trace_as_they_were() -> None:
    hides = data(
        gate("n", said="block"),
        decision="deny",
        decided_by="n",
        preset="sdk-first-match",
        effect="view",
    )
    state = after(called(1), record(2, hides))
    assert row_of(state).summary == "make"
    assert state.traces.ring[0].data.summary == "make"


def rewriting(**fields: Any) -> TraceData:
    """A trace in which one handler wrote what is shown."""
    said = gate("tidy", said="modify")
    known = {"preset": "sdk-first-match", "effect": "view", "shown": "make all"}
    return data(said, **known | fields)


def test_sd_15_a_call_is_shown_as_a_handler_wrote_it_and_the_record_has_both() -> None:
    state = after(called(1), record(2, rewriting()))
    row = row_of(state)
    assert (row.shown, row.shown_by) == ("make all", "tidy")
    assert (row.summary, row.stage, row.glyph, row.hidden_by) == ("make", "running", "", "")
    kept = state.traces.ring[0].data
    assert (kept.summary, kept.shown) == ("make", "make all")


def test_sd_15_nothing_else_writes_what_is_shown() -> None:
    assert shown_by(rewriting()) == "tidy"
    assert shown_by(rewriting(preset="console")) == "", "there a rewrite is about what runs"
    assert shown_by(rewriting(effect="gate")) == ""
    assert shown_by(rewriting(shown="")) == ""
    ignored = (gate("tidy", said="modify", ignored=True),)
    assert shown_by(msgspec.structs.replace(rewriting(), rows=ignored)) == ""
    assert shown_by(msgspec.structs.replace(rewriting(), rows=(gate("a"),))) == ""


def test_what_a_call_is_shown_as_is_bounded() -> None:
    (kept,) = after(record(1, rewriting(shown="x" * 50_000))).traces.ring
    assert len(kept.data.shown) == TEXT_CHARS


def test_sd_17_only_an_abort_that_hides_ends_what_is_shown_of_a_turn() -> None:
    aborts = data(
        gate("first"),
        gate("enough", said="abort"),
        decision="deny",
        decided_by="enough",
        preset="sdk-first-match",
        effect="view",
    )
    assert ended_by(aborts) == "enough"
    assert ended_by(msgspec.structs.replace(aborts, preset="console")) == ""
    blocks = (gate("first", said="abort", ignored=True), gate("enough", said="block"))
    assert ended_by(msgspec.structs.replace(aborts, rows=blocks)) == ""


def test_core_7_only_a_preset_about_the_view_hides_and_a_watched_denial_does_nothing() -> None:
    watched = data(gate("n", said="block"), decision="deny", decided_by="n", effect="view")
    assert hidden_by(watched) == ""
    sdk = msgspec.structs.replace(watched, preset="sdk-first-match")
    assert hidden_by(sdk) == "n"
    assert hidden_by(msgspec.structs.replace(sdk, decided_by="policy")) == ""
    assert hidden_by(msgspec.structs.replace(sdk, decision="none")) == ""
    assert hidden_by(msgspec.structs.replace(sdk, preset="from-later")) == ""


def test_the_slowest_handler_is_that_of_the_day() -> None:
    state = after(
        record(1, data(gate("old", 900)), at=NOON_US - DAY_US),
        *(record(n, data(gate("fmt", 10.0 * n), gate("b", 5))) for n in range(2, 22)),
    )
    found = slowest(state.traces.ring, NOON_US)
    assert found is not None
    assert (found.handler, found.p95_ms) == ("fmt", 200.0)
    assert slowest(state.traces.ring, NOON_US + DAY_US) is None


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([7.0], 95) == 7.0
    assert percentile([float(n) for n in range(1, 101)], 95) == 95.0


def test_dispatches_stand_in_the_order_in_which_they_began() -> None:
    state = State()
    state.apply(record(7, data(kind="tool.post", native="PostToolUse"), at=NOON_US + 2))
    state.apply(record(9, data(gate("slow"))))
    (line,) = group_traces(state.traces.ring)
    assert [trace.data.kind for trace in line.traces] == ["tool.pre", "tool.post"]


def test_a_trace_in_words_names_every_handler_and_claims_only_what_happened() -> None:
    rows = gate("slow", 411), gate("shaky", 5.5, "failed", detail="exit: exited with 7")
    fields = {"decision": "deny", "decided_by": "shaky", "took_ms": 417.0}
    said = record_text(record(3, data(*rows, **fields)))
    assert said == (
        "make  deny by shaky, 417 ms: slow defer 411 ms; shaky failed 6 ms (exit: exited with 7)"
    )
    watched = record_text(record(3, data(*rows, **fields, effect="view")))
    assert "only watched, deny by shaky prevented nothing" in watched

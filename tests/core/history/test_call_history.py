"""Recorded calls as rows: what became of each, by whose word, whatever page they are read in."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.builders import post, pre, shell
from tests.core.state.test_state import HISTORY
from tests.core.world import World
from watchgate.core.filters.filter_fields import history_test
from watchgate.core.filters.filter_parser import parse
from watchgate.core.history.call_history import CALL_KINDS, fold_history
from watchgate.core.history.history_row import HistoryRow
from watchgate.core.model.records import Record

CALL: dict[str, Any] = {
    "native": "PreToolUse",
    "lane": "gate",
    "tool": {"name": "Bash"},
    "summary": "ls",
    "gate": "held",
    "risk": "high",
    "rule": "no-sudo",
    "cwd": "/home/u/app",
}
RESULT = {"native": "PostToolUse", "tool": {"name": "Bash"}, "summary": "ls", "ok": True}


def record(kind: str, data: dict[str, Any], **more: Any) -> Record:
    fields = {"agent": "claude", "session": "one", "call": "c1", "request": None, **more}
    return Record(v=1, core="core", at=1_000_000 * fields.get("seq", 1), kind=kind, data=data,
                  **{"seq": 1, **fields})  # fmt: skip


def story(*parts: tuple[str, dict[str, Any]]) -> list[Record]:
    return [record(kind, data, seq=n) for n, (kind, data) in enumerate(parts, start=1)]


def only(records: list[Record], **more: Any) -> HistoryRow:
    (row,) = fold_history(records, 10, **more)
    return row


def decided(word: str, by: str = "watchgate", **more: Any) -> list[Record]:
    """A call that was held, and how the question about it ended."""
    said = {"word": word, "by": by, "waited_s": 30.0, **more}
    return story(("tool.pre", CALL), ("approval.requested", CALL), ("approval.decided", said))


ANN = "operator ann (console 2)"


@pytest.mark.parametrize(
    ("word", "by", "told"),
    [
        ("denied-by-timeout", "nobody", "T timed out / nobody, 0:30"),
        ("denied-by-operator", ANN, "x denied / you"),
        ("denied-by-operator", "operator kim (pid 50)", "x denied / kim"),
        ("denied-by-operator", "operator kim (pid 50, clear)", "x denied / kim"),
        ("denied-by-operator", "operator ann (console 2, pin)", "x denied / you (pin)"),
        (
            "denied-by-operator",
            "somebody (pid 50, unproven)",
            "x denied / somebody (pid 50, unproven)",
        ),
        ("denied-by-rule", "watchgate", "x denied / rule no-sudo"),
        ("denied-no-approver", "watchgate", "x denied / no console"),
        ("denied-no-journal", "watchgate", "x denied / no journal"),
        ("denied-core-stopped", "watchgate", "x denied / no core"),
        ("denied-failure", "watchgate", "x denied / a failure"),
        ("denied-paused", "watchgate", "x denied / a pause"),
        ("handed-back-by-operator", ANN, "b handed back / you"),
        ("handed-back-by-timeout", "nobody", "b handed back / nobody, 0:30"),
        ("answered-elsewhere", "a sender that is not known", "~ elsewhere / in claude"),
        ("allowed-by-rule", "watchgate", "= by rule / no-sudo"),
        ("allowed-by-grant", "grant a41f", "= by rule / a grant"),
        ("allowed-by-operator", ANN, "+ allowed / you, twice"),
        ("allowed-by-operator", "operator ann (pid 50)", "+ allowed / you"),
        ("allowed-by-operator", "operator ann (console 2, pin)", "+ allowed / you (pin), twice"),
        ("allowed-by-operator", "program etl (token)", "+ allowed / program etl (token)"),
        ("answered-by-operator", ANN, "+ answered / you, twice"),
        ("withdrawn", "watchgate", "- withdrawn / agent gone"),
    ],
)
def test_what_became_of_a_held_call_and_by_whom(word: str, by: str, told: str) -> None:
    row = only(decided(word, by), me="ann")
    assert f"{row.glyph} {row.outcome} / {row.by}" == told


def test_a_critical_call_was_allowed_with_a_typed_yes() -> None:
    records = decided("allowed-by-operator", ANN)
    records[1] = msgspec.structs.replace(records[1], data={**CALL, "risk": "critical"})
    assert only(records).by == "ann, yes"


def test_a_rule_without_a_name_is_a_rule() -> None:
    denied = {**CALL, "gate": "denied", "rule": "", "word": "denied-by-rule"}
    row = only(story(("tool.pre", denied)))
    assert (row.glyph, row.outcome, row.by) == ("x", "denied", "a rule")


@pytest.mark.parametrize(("ok", "outcome"), [(True, "ran"), (False, "failed")])
def test_a_call_that_the_gate_had_no_opinion_on(ok: bool, outcome: str) -> None:
    kind = "tool.post" if ok else "tool.error"
    row = only(story(("tool.pre", {**CALL, "gate": "handback"}), (kind, {**RESULT, "ok": ok})))
    assert (row.glyph, row.outcome, row.by) == ("", outcome, "")


def test_a_denied_call_that_ran_is_an_alarm() -> None:
    denied = {**CALL, "gate": "denied", "word": "denied-by-rule"}
    alarm = {"word": "deny", "what": "it ran", "alarm": "DENIED BUT RAN"}
    row = only(story(("tool.pre", denied), ("tool.post", RESULT), ("effect.contradicted", alarm)))
    assert (row.glyph, row.outcome, row.alarm) == ("#", "DENIED BUT RAN", True)
    assert (row.by, row.word, row.first, row.last) == ("rule no-sudo", "denied-by-rule", 1, 3)


def test_a_call_past_the_gate() -> None:
    why = {"what": "ls", "cause": "mode", "why": "its mode asks nobody"}
    row = only(story(("tool.post", RESULT), ("effect.ungated", why)))
    assert (row.glyph, row.outcome, row.by, row.why) == ("#", "ran ungated", "no gate", why["why"])


def test_a_decision_that_never_arrived_is_not_told_as_one() -> None:
    records = decided("allowed-by-operator", ANN)
    undelivered = {"word": "denied-no-journal", "what": "the disk was full"}
    row = only([*records, record("effect.undelivered", undelivered, seq=4)])
    assert (row.glyph, row.outcome, row.by) == ("x", "denied", "no journal")


def test_what_goes_on_is_told_so_and_what_stopped_without_an_end_too() -> None:
    pending, running = decided("withdrawn")[:2], story(("tool.pre", {**CALL, "gate": "handback"}))
    now = {"alive": {("claude", "one", "c1")}}
    assert [only(pending, **now).outcome, only(running, **now).outcome] == ["pending", "running"]
    assert only(running).outcome == "no result"
    left = only(pending)
    assert (left.glyph, left.outcome, left.by) == ("-", "withdrawn", "no core")


def test_ids_begin_anew_with_each_core() -> None:
    records = [
        record("tool.pre", CALL, seq=1, call="~1"),
        record("policy.started", {}, seq=2, agent=None, session=None, call=None),
        record("tool.pre", {**CALL, "summary": "pwd"}, seq=3, call="~1"),
    ]
    assert [(row.summary, row.first) for row in fold_history(records, 10)] == [
        ("ls", 1),
        ("pwd", 3),
    ]


def test_an_earlier_cores_call_is_not_one_that_goes_on_now() -> None:
    """Calls without an id are counted from 1 by every core: both are the first of their session."""
    records = [
        record("tool.pre", {**CALL, "gate": "handback"}, seq=1, call="~1"),
        record("policy.started", {}, seq=2, agent=None, session=None, call=None),
        record("tool.pre", {**CALL, "gate": "handback"}, seq=3, call="~1"),
    ]
    rows = fold_history(records, 10, alive={("claude", "one", "~1")})
    assert [row.outcome for row in rows] == ["no result", "running"]


def test_who_decided_is_found_by_the_name_and_by_you() -> None:
    row = only(decided("denied-by-operator", ANN), me="ann")
    assert row.by == "you"
    for text in ("by:ann", "by:you", "by:operator", "-by:kim"):
        assert history_test(parse(text))(row), text


def test_a_session_goes_by_the_name_that_the_core_gives_it_or_by_its_folder() -> None:
    records = story(("tool.pre", CALL))
    assert only(records).label == "app"
    assert only(records, names={("claude", "one"): "app 2"}).label == "app 2"


@pytest.mark.parametrize("data", [{}, {"word": 5}, {"tool": 3, "summary": []}, {"waited_s": "x"}])
def test_purged_and_foreign_records_never_raise(data: dict[str, Any]) -> None:
    kinds = (*CALL_KINDS, "policy.off")
    rows = fold_history([record(kind, data, seq=n) for n, kind in enumerate(kinds, start=1)], 20)
    assert len(rows) == 1


def test_a_purged_call_still_tells_that_it_was_and_how_it_ended() -> None:
    row = only([record("tool.pre", {}, seq=1), record("tool.error", {}, seq=2)])
    assert (row.tool, row.summary, row.outcome) == ("", "", "failed")


def rows_of(world: World) -> list[HistoryRow]:
    return fold_history(world.records, len(world.records))


def test_the_rows_of_a_real_history_agree_with_the_live_table() -> None:
    live = {(row.agent, row.session, row.call): row for row in HISTORY.state.rows}
    rows = rows_of(HISTORY)
    assert {(row.agent, row.session, row.call) for row in rows} == set(live)
    for row in rows:
        there = live[row.agent, row.session, row.call]
        assert (row.alarm, row.risk, row.summary) == (there.alarm, there.risk, there.summary)
        assert row.alarm or row.glyph in (there.glyph, "-")


@settings(max_examples=50)
@given(st.integers(1, len(HISTORY.records)))
def test_a_call_is_whole_with_all_its_records_and_no_others(cut: int) -> None:
    """Folding the records of the calls that begin in a part gives those calls as the whole does."""
    whole = {row.first: row for row in rows_of(HISTORY)}
    begun = {row.call for row in whole.values() if row.first <= cut}
    core = [r for r in HISTORY.records if r.call in begun or r.kind.startswith("policy.")]
    for row in fold_history(core, 100):
        assert row == whole[row.first]


def test_the_filter_language_on_calls() -> None:
    world = World()
    world.decide(world.ask(pre(shell("high a", "a")), 1), "deny")
    world.send(pre(shell("low b", "b")), 2)
    world.send(post(shell("low b", "b")))
    rows = rows_of(world)

    def found(text: str) -> list[str]:
        keeps = history_test(parse(text))
        return [row.call for row in rows if keeps(row)]

    assert found("") == ["a", "b"]
    assert found("risk>=high") == ["a"]
    assert found("-state:done") == ["a"]
    assert found("state:denied") == found("state:denied-by-operator") == ["a"]
    assert found("session:app") == found("session:one") == ["a", "b"]
    assert found("call:b") == ["b"]
    assert found("by:operator") == ["a"]
    assert found('"low b"') == ["b"]

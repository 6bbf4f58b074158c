"""Rows are found by their call for as long as they are kept."""

from __future__ import annotations

from watchgate.core.model.call_row import CallRow
from watchgate.core.state.call_rows import CallRows


def row(call: str, **facts: object) -> CallRow:
    shown = {"stage": "running", **facts}
    return CallRow(
        at=0,
        agent="claude",
        session="one",
        call=call,
        label="app",
        tool="Bash",
        risk="low",
        glyph="",
        summary="ls",
        stage=str(shown["stage"]),
    )


def key(call: str) -> tuple[str, str, str]:
    return ("claude", "one", call)


def test_a_row_is_changed_by_its_call_alone() -> None:
    rows = CallRows(10)
    rows.add(row("a"))
    rows.add(row("b"))
    rows.edit(key("a"), stage="done")
    assert [each.stage for each in rows.ring] == ["done", "running"]
    assert rows.get(key("b")) == row("b")


def test_a_row_that_fell_out_is_not_found() -> None:
    rows = CallRows(2)
    for call in "abc":
        rows.add(row(call))
    assert rows.number(key("a")) is None
    assert rows.get(key("a")) is None
    rows.edit(key("a"), stage="done")
    assert [each.stage for each in rows.ring] == ["running", "running"]


def test_a_call_seen_again_is_its_newest_row() -> None:
    rows = CallRows(10)
    first, second = rows.add(row("a")), rows.add(row("a"))
    assert (first, rows.number(key("a"))) == (0, second)


def test_the_end_of_a_turn_ends_only_what_runs_in_that_session() -> None:
    rows = CallRows(10)
    rows.add(row("a"))
    rows.add(row("b", stage="pending"))
    rows.end_turn("claude", "two")
    assert [each.stage for each in rows.ring] == ["running", "pending"]
    rows.end_turn("claude", "one")
    assert [each.stage for each in rows.ring] == ["no result", "pending"]


def test_what_is_remembered_is_bounded() -> None:
    rows = CallRows(4)
    for number in range(50):
        rows.add(row(f"c{number}"))
    assert len(rows._number_of) <= 2 * 4 + 1
    assert rows.number(key("c49")) is not None


def test_the_calls_without_an_id_are_another_cores_after_a_start() -> None:
    rows = CallRows(10)
    rows.add(row("~1"))
    rows.add(row("toolu_1"))
    rows.forget_nameless()
    assert (rows.number(key("~1")), rows.number(key("toolu_1"))) == (None, 1)
    assert len(rows.ring) == 2


def test_words_and_rules_are_kept_once_for_all_rows() -> None:
    rows = CallRows(10)
    first = rows.shared(b"git.push".decode())
    assert rows.shared(b"git.push".decode()) is first


def test_what_fell_out_leaves_nothing_behind() -> None:
    rows = CallRows(2)
    for call in ("a", "b", "a", "c", "d"):
        rows.add(row(call))
    assert [rows.number(key(call)) for call in "abcd"] == [None, None, 3, 4]
    assert rows._number_of == {("claude", "one"): {"c": 3, "d": 4}}


def test_a_call_seen_again_is_found_after_its_first_row_fell_out() -> None:
    rows = CallRows(2)
    for call in "aba":
        rows.add(row(call))
    assert rows.number(key("a")) == 2

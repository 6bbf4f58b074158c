from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from tests.core.builders import permission, post, pre, shell, sub
from watchgate.core.gate.call_tracker import (
    ALL_ENDED_CALLS_MAX,
    CALL_SESSIONS_MAX,
    OPEN_CALLS_MAX,
    CallTracker,
    Decided,
    TrackedCall,
)
from watchgate.core.model.events import Event, Tool


def begin(calls: CallTracker, event: Event) -> TrackedCall:
    assert event.tool is not None
    return calls.begin(event, event.tool)


def end(calls: CallTracker, tool: Tool) -> TrackedCall | None:
    return calls.end(post(tool), tool)


def test_an_id_names_the_call_on_all_its_lanes() -> None:
    calls = CallTracker()
    call = begin(calls, pre(shell(call_id="c1")))
    assert begin(calls, permission(shell(call_id="c1"))) is call
    assert call.ref == "c1"
    assert end(calls, shell(call_id="c1")) is call
    assert end(calls, shell(call_id="c1")) is None


def test_what_may_be_megabytes_is_not_kept_with_a_call() -> None:
    assert begin(CallTracker(), pre(shell("x" * 1_000))).tool.input == {}


def test_calls_without_ids_get_names_of_ours() -> None:
    calls = CallTracker()
    assert [begin(calls, pre(shell())).ref for _ in range(3)] == ["~1", "~2", "~3"]


def test_a_permission_event_without_an_id_belongs_to_an_equal_call_that_was_not_asked() -> None:
    calls = CallTracker()
    one, two = (begin(calls, pre(shell(call_id=name))) for name in "ab")
    taken = [begin(calls, permission(shell(description="why"))) for _ in range(2)]
    assert {call.ref for call in taken} == {"a", "b"}
    assert begin(calls, permission(shell())).ref == "~1"
    assert one.asked
    assert two.asked


@pytest.mark.parametrize(
    "event",
    [
        permission(shell("high y")),
        permission(shell(), session="two"),
        permission(shell(), agent="codex"),
        permission(shell(), sub=sub()),
        permission(shell(), cwd="/"),
        permission(Tool("Bash", "Bash", "mcp", {}, shell().input_hash)),
        permission(Tool("PowerShell", "PowerShell", "shell", {}, shell().input_hash)),
        permission(shell(call_id="b")),
    ],
)
def test_an_event_that_differs_in_anything_is_another_call(event: Event) -> None:
    calls = CallTracker()
    call = begin(calls, pre(shell(call_id="a")))
    assert begin(calls, event) is not call


@pytest.mark.parametrize(
    "event",
    [
        pre(shell("high y", "a")),
        pre(shell(call_id="a"), cwd="/"),
        pre(shell(call_id="a"), sub=sub()),
        pre(Tool("X", "X", "other", {}, shell().input_hash, "a")),
    ],
)
def test_ap_13_an_id_alone_does_not_make_a_call_the_same(event: Event) -> None:
    calls = CallTracker()
    call = begin(calls, pre(shell(call_id="a")))
    again = begin(calls, event)
    assert again is not call
    assert again.ref == "a"
    assert calls.of_session("claude", "one") == [again]


def test_a_result_with_an_id_ends_that_call_even_if_its_input_is_another() -> None:
    calls = CallTracker()
    call = begin(calls, pre(shell("high a", "a")))
    assert end(calls, shell("high b", "a")) is call


def test_a_result_without_an_id_ends_the_equal_call_that_most_likely_ran() -> None:
    calls = CallTracker()
    ways: list[Decided | None] = [None, *get_args(Decided)]
    for name in map(str, ways):
        begin(calls, pre(shell(call_id=name)))
    relayed = begin(calls, permission(shell(call_id="relayed")))
    for call, way in zip(calls.of_session("claude", "one"), ways, strict=False):
        call.decided = way
    ended = [end(calls, shell()) for _ in range(5)]
    order = ["allow", "handback", relayed.ref, "deny", "None"]
    assert [call.ref for call in ended if call] == order


def test_a_result_with_an_unknown_id_ends_only_a_call_without_one() -> None:
    calls = CallTracker()
    begin(calls, pre(shell(call_id="a")))
    assert end(calls, shell(call_id="b")) is None
    nameless = begin(calls, pre(shell()))
    assert end(calls, shell(call_id="b")) is nameless


def test_the_oldest_call_of_a_session_is_forgotten_before_too_many_are_kept() -> None:
    calls = CallTracker()
    for number in range(OPEN_CALLS_MAX + 1):
        begin(calls, pre(shell("low", str(number))))
    assert len(calls.of_session("claude", "one")) == OPEN_CALLS_MAX
    assert end(calls, shell("low", "0")) is None


def test_sessions_do_not_pile_up_whether_their_calls_end_or_not() -> None:
    calls = CallTracker()
    for number in range(CALL_SESSIONS_MAX + 10):
        event = pre(session=f"s{number}")
        assert event.tool is not None
        calls.begin(event, event.tool)
    assert len(calls._sessions) == CALL_SESSIONS_MAX
    assert calls.of_session("claude", "s9") == []
    ended = post(session=f"s{CALL_SESSIONS_MAX}")
    assert ended.tool is not None
    assert calls.end(ended, ended.tool) is not None
    begin(calls, pre(session="one more"))
    assert len(calls._sessions) == CALL_SESSIONS_MAX
    assert calls.of_session("claude", "s10") != [], "one that has no open call goes first"


def test_calls_that_ended_are_kept_for_a_while_however_many_sessions_there_are() -> None:
    calls = CallTracker()
    for number in range(ALL_ENDED_CALLS_MAX // 10):
        for turn in range(20):
            tool = shell(f"low {turn}", f"c{number}-{turn}")
            begin(calls, pre(tool, session=f"s{number}"))
            event = post(tool, session=f"s{number}")
            calls.end(event, tool)
    kept = [calls.open_or_ended("claude", session) for _, session in calls._sessions]
    assert sum(map(len, kept)) == ALL_ENDED_CALLS_MAX
    assert kept[0] == []
    assert len(kept[-1]) == 20


def test_an_id_that_another_numbering_never_told_the_end_of_goes_with_its_call() -> None:
    calls = CallTracker()
    for number in range(ALL_ENDED_CALLS_MAX + 1):
        tool = shell(f"low {number}", f"c{number}")
        begin(calls, msgspec.structs.replace(pre(tool), numbering="exec"))
        calls.end(post(tool), tool)
    assert len(calls._sessions["claude", "one"].ids) == ALL_ENDED_CALLS_MAX


def test_a_call_is_dropped_and_found_by_its_reference() -> None:
    calls = CallTracker()
    event = pre(shell(call_id="a"))
    call = begin(calls, event)
    assert calls.get(event, "a") is call
    assert calls.get(pre(session="two"), "a") is None
    calls.drop(call)
    assert calls.get(event, "a") is None

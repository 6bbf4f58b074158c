"""One call on the lanes of each agent: which of its events carry an id, and in which order."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.core.builders import permission, post, pre, shell
from watchgate.core.gate.call_tracker import CallTracker, TrackedCall
from watchgate.core.model.events import Event, Lane, Tool


def begin(calls: CallTracker, event: Event) -> TrackedCall:
    assert event.tool is not None
    return calls.begin(event, event.tool)


def end(calls: CallTracker, event: Event) -> TrackedCall | None:
    assert event.tool is not None
    return calls.end(event, event.tool)


def called(event: Event, native: str, tool: str = "", **fields: Any) -> Event:
    """The event under the agent's own names."""
    assert event.tool is not None
    named = msgspec.structs.replace(event.tool, native_name=tool or event.tool.native_name)
    body = msgspec.structs.replace(event.body, tool=named)
    return msgspec.structs.replace(event, native=native, body=body, **fields)


BARE = shell()
WITH_ID = shell(call_id="a")
LANES: dict[str, list[Event]] = {
    "claude, codex: the permission event has no id": [
        pre(WITH_ID),
        permission(BARE),
        post(WITH_ID),
    ],
    "copilot: no id at all, and another name on one lane": [
        called(pre(BARE), "preToolUse", "bash"),
        called(permission(BARE), "permissionRequest", "Bash"),
        called(post(BARE), "postToolUse", "bash"),
    ],
    "gemini, kiro, windsurf: no id at all": [pre(BARE), post(BARE)],
    "qwen: the permission event comes first, and has no id": [
        permission(BARE),
        pre(WITH_ID),
        post(WITH_ID),
    ],
    "cursor: two gates of one call, one of them without an id": [
        called(pre(WITH_ID), "preToolUse"),
        called(pre(BARE), "beforeShellExecution"),
        called(post(WITH_ID), "postToolUse"),
    ],
    "cursor: the result without an id": [
        called(pre(WITH_ID), "preToolUse"),
        called(pre(BARE), "beforeShellExecution"),
        called(post(BARE), "afterShellExecution"),
    ],
    "opencode: the id on all lanes": [pre(WITH_ID), permission(WITH_ID), post(WITH_ID)],
}


@pytest.mark.parametrize("lanes", LANES.values(), ids=LANES)
def test_the_lanes_of_one_call_are_one_call(lanes: list[Event]) -> None:
    calls = CallTracker()
    first, *others = [begin(calls, event) for event in lanes[:-1]]
    assert all(call is first for call in others)
    assert end(calls, lanes[-1]) is first
    assert calls.of_session("claude", "one") == []


@pytest.mark.parametrize("lanes", LANES.values(), ids=LANES)
def test_two_equal_calls_at_once_stay_two(lanes: list[Event]) -> None:
    calls = CallTracker()
    seen: dict[int, set[str]] = {}
    for event in lanes[:-1]:
        for twin in range(2):
            seen.setdefault(twin, set()).add(begin(calls, _numbered(event, twin)).ref)
    assert len(calls.of_session("claude", "one")) == 2
    ended = [end(calls, _numbered(lanes[-1], twin)) for twin in range(2)]
    assert len({call.ref for call in ended if call is not None}) == 2


def _numbered(event: Event, twin: int) -> Event:
    """The event of the first or second of two twins: only ids tell them apart."""
    tool = event.tool
    assert tool is not None
    named = msgspec.structs.replace(tool, call_id=f"{tool.call_id}{twin}" if tool.call_id else None)
    return msgspec.structs.replace(event, body=msgspec.structs.replace(event.body, tool=named))


def test_a_tool_of_another_name_is_another_call_even_if_its_class_and_input_are_the_same() -> None:
    calls = CallTracker()
    make = Tool("make_dir", "make_dir", "edit", {}, "hash")
    drop = Tool("drop_dir", "drop_dir", "edit", {}, "hash")
    assert begin(calls, pre(make)) is not begin(calls, permission(drop))


def stream(event: Event, native: str) -> Event:
    return msgspec.structs.replace(event, native=native, lane=Lane.OBSERVE, numbering="stream")


ITEM = shell(call_id="item_1")
STARTED = stream(pre(ITEM), "item.started/command_execution")
COMPLETED = stream(post(ITEM), "item.completed/command_execution")


@pytest.mark.parametrize("stream_first", [False, True])
def test_a_stream_with_ids_of_its_own_tells_of_the_same_call(stream_first: bool) -> None:
    calls = CallTracker()
    call = begin(calls, pre(WITH_ID))
    assert begin(calls, STARTED) is call
    ends = [COMPLETED, post(WITH_ID)] if stream_first else [post(WITH_ID), COMPLETED]
    assert end(calls, ends[0]) is call
    assert ends[1].tool is not None
    assert calls.find_ended(ends[1], ends[1].tool) is call
    assert calls.find_ended(ends[1], ends[1].tool) is call  # said twice, it is the same end
    assert end(calls, ends[1]) is None


def test_a_stream_that_lags_behind_still_finds_the_call_that_has_ended() -> None:
    calls = CallTracker()
    call = begin(calls, pre(WITH_ID))
    end(calls, post(WITH_ID))
    assert begin(calls, STARTED) is call
    assert COMPLETED.tool is not None
    assert calls.find_ended(COMPLETED, COMPLETED.tool) is call
    assert calls.of_session("claude", "one") == []


def test_what_only_the_stream_tells_of_is_a_call_of_its_own() -> None:
    calls = CallTracker()
    first = begin(calls, STARTED)
    assert end(calls, COMPLETED) is first
    assert not first.gated
    assert begin(calls, STARTED) is not first


def test_a_call_that_is_only_watched_explains_a_result_better_than_a_denied_one() -> None:
    calls = CallTracker()
    begin(calls, pre(BARE)).decided = "deny"
    watched = begin(calls, pre(BARE, lane=Lane.OBSERVE))
    assert end(calls, post(BARE)) is watched


def test_a_gate_is_never_told_what_was_allowed_for_a_twin_that_was_handed_back() -> None:
    calls = CallTracker()
    handed, allowed = begin(calls, permission(shell())), begin(calls, permission(shell()))
    handed.decided, allowed.decided = "handback", "allow"
    assert begin(calls, pre(shell())) is handed
    assert begin(calls, pre(shell())) is allowed


def test_a_stream_tells_of_a_twin_that_ended_rather_than_of_one_that_was_denied() -> None:
    calls = CallTracker()
    ran, denied = begin(calls, pre(shell(call_id="a"))), begin(calls, pre(shell(call_id="b")))
    ran.decided, denied.decided = "allow", "deny"
    assert end(calls, post(shell(call_id="a"))) is ran
    assert begin(calls, STARTED) is ran

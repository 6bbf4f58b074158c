"""A line is recognised by its envelope; whatever is in it, reading it ends in events."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.streams.lines import (
    AT,
    command,
    frame,
    one,
    read,
    runtime,
    source,
    universal,
    whale,
)
from watchgate.agents import streams
from watchgate.agents.base import DecodeError
from watchgate.agents.streams.stream_source import MAX_OPEN_CALLS, MAX_SESSIONS
from watchgate.core.model.events import Lane, Text

LINES: list[tuple[str, dict[str, Any]]] = [
    ("codewhale", whale({"type": "response_end", "response_id": "r"})),
    ("codewhale", runtime(1, "turn.started", {})),
    ("codex", command("started")),
    ("codex", {"type": "thread.started", "thread_id": "t"}),
    ("sandbox-agent", universal(1, "item.started", {"item": {"kind": "status"}})),
    ("synaps", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}),
]
NO_SHAPES: list[dict[str, Any]] = [
    {},
    {"at": 1, "event": {}},
    {"at": "2026-05-31T11:19:28Z", "event": "text"},
    {"type": "response_start"},
    {"event": {"type": "response_start"}},
    {"seq": 1, "event": "turn_end"},
    {"event_id": "e"},
]


@pytest.mark.parametrize(("agent", "line"), LINES)
def test_each_shape_is_known_by_its_envelope(agent: str, line: dict[str, Any]) -> None:
    event = one(line)
    assert event.agent == agent
    assert event.lane is Lane.OBSERVE


@pytest.mark.parametrize("line", NO_SHAPES, ids=json.dumps)
def test_what_has_no_envelope_of_these_is_nobodys(line: dict[str, Any]) -> None:
    assert streams.read_line(line, source(), AT) is None


def test_a_tap_says_whose_stream_follows_and_what_is_missing() -> None:
    sent = source()
    assert streams.read_line({"watchgate": 1, "tap": "codex"}, sent, AT) == []
    assert sent.agent == "codex"
    event = one({"watchgate": 1, "tap": "codex", "dropped": 12}, sent)
    assert (event.native, event.agent) == ("stream.gap", "codex")
    assert isinstance(event.body, Text)
    assert event.body.text.startswith("12 lines")


def test_a_later_line_of_a_tap_keeps_the_folder_that_an_earlier_one_named() -> None:
    sent = source()
    read({"watchgate": 1, "tap": "codex", "cwd": "/srv/app"}, sent)
    read({"watchgate": 1, "tap": "codex", "dropped": 1}, sent)
    assert sent.cwd == "/srv/app"
    with pytest.raises(DecodeError, match="cwd"):
        read({"watchgate": 1, "tap": "codex", "cwd": "/" + "x" * 9_000}, sent)


def test_a_session_id_that_cannot_be_one_is_refused() -> None:
    with pytest.raises(DecodeError, match="thread_id"):
        read({"type": "thread.started", "thread_id": "x" * 600})


def test_what_a_source_keeps_is_bounded() -> None:
    sent = source()
    for number in range(MAX_OPEN_CALLS + 50):
        part = {"type": "tool_call", "name": "bash", "call_id": f"c{number}"}
        call = {"kind": "tool_call", "content": [part]}
        read(universal(number + 1, "item.started", {"item": call}), sent)
    ((text,),) = [[event.body for event in sent.gone(AT)]]
    assert isinstance(text, Text)
    assert f"{MAX_OPEN_CALLS} tool calls" in text.text
    for number in range(MAX_SESSIONS + 50):
        started = universal(1, "turn.started", {"turn_id": "t"}, session_id=f"s{number}")
        read(started, sent)
    assert len(sent.gone(AT)) == MAX_SESSIONS


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
KEYS = st.sampled_from(
    """at event type item data id response_id tool_name phase payload frame thread_id session_id
    seq previous_seq schema_version event_id sequence time status kind content call_id arguments
    exit_code command cwd changes permission_id metadata options usage jsonrpc method params
    request output approval_id decision reason delta update""".split()
)
KNOWN = st.sampled_from(
    """tool_lifecycle approval_lifecycle job_lifecycle generic_event_frame response_delta
    exec_approval_request tool_call_start tool_call_result error turn_started turn_complete
    user_input_request item.started item.completed item.delta command_execution file_change
    mcp_tool_call tool_call tool_result message permission.requested permission.resolved
    question.requested session.started session.ended agent.unparsed turn.completed turn.failed
    approval.required approval.decided approval.timeout turn_end precheck completed failed
    2026-05-31T11:19:28Z hook.handle before_tool_call""".split()
)
FIELDS = st.dictionaries(
    KEYS,
    st.recursive(
        KNOWN | ANY, lambda inner: st.dictionaries(KEYS, inner, max_size=5), max_leaves=20
    ),
    max_size=8,
)


@given(lines=st.lists(FIELDS, max_size=4))
def test_whatever_a_line_holds_it_ends_in_events_that_can_be_recorded(
    lines: list[dict[str, Any]],
) -> None:
    import msgspec

    sent = source()
    for line in lines:
        try:
            events = streams.read_line(line, sent, AT)
        except DecodeError:
            continue
        for event in events or []:
            assert event.lane is Lane.OBSERVE
            assert msgspec.json.encode(event)
    msgspec.json.encode(sent.gone(AT))


@pytest.mark.parametrize("agent", ["codewhale", "codex", "sandbox-agent"])
def test_a_turn_that_ends_takes_what_it_left_open_with_it(agent: str) -> None:
    begins, ends = {
        "codewhale": (
            frame({"event": "turn_started", "turn_id": "t"}),
            frame({"event": "turn_complete", "turn_id": "t"}),
        ),
        "codex": (command("started"), {"type": "turn.completed"}),
        "sandbox-agent": (
            universal(1, "turn.started", {"turn_id": "t"}),
            universal(2, "turn.ended", {"turn_id": "t"}),
        ),
    }[agent]
    sent = source()
    read(begins, sent)
    read(ends, sent)
    assert sent.gone(AT) == []

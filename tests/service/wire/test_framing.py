from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.agents.base import HookAnswer
from watchgate.core.model.events import Lane
from watchgate.service.wire.framing import FrameHead, HookFrameError, answer_bytes, parse_head


def test_a_header_carries_agent_lane_event_deadline_and_environment() -> None:
    raw = (
        b"watchgate/1 claude gate\nlength: 12\nevent: PreToolUse\ndeadline_ms: 3660000\n"
        b"env.TMUX_PANE: %3"
    )
    assert parse_head(raw) == FrameHead(
        agent="claude",
        lane=Lane.GATE,
        length=12,
        native="PreToolUse",
        deadline_s=3660.0,
        env={"TMUX_PANE": "%3"},
    )


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b"watchgate/2 claude gate\nlength: 1", "watchgate/1"),
        (b"watchgate/1 claude door\nlength: 1", "door"),
        (b"watchgate/1 claude gate", "no length"),
        (b"watchgate/1 claude gate\nlength: -1", "negative"),
        (b"watchgate/1 claude gate\nlength: many", "unreadable"),
        (b"GET / HTTP/1.1\nlength: 1", "unreadable|first line"),
        (b"\xff\xfe", "unreadable"),
    ],
)
def test_a_broken_header_is_named(raw: bytes, fault: str) -> None:
    with pytest.raises(HookFrameError, match=fault):
        parse_head(raw)


@given(st.binary(max_size=200))
def test_no_bytes_break_the_parser_otherwise(raw: bytes) -> None:
    with contextlib.suppress(HookFrameError):
        parse_head(raw)


def test_an_answer_is_one_line_and_then_the_bytes() -> None:
    assert answer_bytes(HookAnswer(b"{}", b"no\n", 2)) == b"2 2 3\n{}no\n"

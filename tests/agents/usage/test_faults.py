"""Lines that cannot be read are counted, and lines that are only odd are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.usage import claude_transcript as claude
from tests.agents.usage import codex_rollout as codex
from watchgate.agents.usage.reader_base import PIECE_BYTES, moment_us, pieces, text_of
from watchgate.agents.usage.usage_readers import READERS

AGENTS = ("claude", "codex")
DEEP = b"[" * 100_000

BAD_FIGURES = [-1, True, "12", 1.5, 2**53 + 1, 10**400, [], {}]


def good(agent: str) -> dict[str, Any]:
    return claude.said() if agent == "claude" else codex.counted(codex.amount(10, 20))


def outputs(agent: str, *lines: Any) -> tuple[list[int], int]:
    reader = READERS[agent]("/p/5f.jsonl")
    reader.read(claude.jsonl(*lines))
    return [call.output for call in reader.take()], reader.unreadable


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "line",
    [b'{"type":"assistant","mess', b"\xff\xfe\x00", b"{}}", b"nonsense", b"NaN", DEEP, b"\x00" * 9],
)
def test_what_is_no_json_is_unreadable_and_the_lines_around_it_are_read(
    agent: str, line: bytes
) -> None:
    assert outputs(agent, line, good(agent), line) == ([20], 2)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  \r",
        b"5",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b'{"type":5,"payload":7,"message":"hello"}',
        b'{"type":"summary","timestamp":[],"uuid":{},"payload":{"type":"other","info":"none"}}',
        b'{"type":"x","payload":{"id":5,"model":[]},"big":' + b"9" * 5_000 + b',"e":1e999}',
        b'{"type":"system","content":"\xff"}',
        b'{"type":"user","message":{"content":"\\ud83d"}}',
    ],
)
def test_a_line_that_is_about_something_else_may_be_as_odd_as_it_likes(
    agent: str, line: bytes
) -> None:
    assert outputs(agent, line, good(agent), line) == ([20], 0)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_mark_of_the_byte_order_before_the_first_line_takes_nothing_away(agent: str) -> None:
    line = b"\xef\xbb\xbf" + json.dumps(good(agent)).encode()
    assert outputs(agent, line) == ([20], 0)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_whole_number_may_be_written_with_a_fraction(agent: str) -> None:
    line = json.dumps(good(agent)).replace(": 20", ": 20.0").replace(": 10", ": 1e1").encode()
    assert outputs(agent, line) == ([20], 0)


@pytest.mark.parametrize("value", BAD_FIGURES)
@pytest.mark.parametrize("name", ["input_tokens", "output_tokens", "cache_creation_input_tokens"])
def test_claude_usage_with_a_figure_that_cannot_be_is_unreadable(name: str, value: Any) -> None:
    bad = claude.said(claude.usage(**{name: value}), id="msg_2")
    assert outputs("claude", bad, good("claude")) == ([20], 1)


@pytest.mark.parametrize("value", BAD_FIGURES)
@pytest.mark.parametrize("name", ["input_tokens", "cached_input_tokens", "output_tokens"])
def test_codex_usage_with_a_figure_that_cannot_be_is_unreadable(name: str, value: Any) -> None:
    bad = codex.counted({**codex.amount(5, 5), name: value})
    assert outputs("codex", bad, good("codex")) == ([20], 1)


@pytest.mark.parametrize("told", [5, "much", [1], True])
def test_usage_that_is_no_object_is_unreadable(told: Any) -> None:
    assert outputs("claude", claude.said(told)) == ([], 1)
    bad = codex.line("event_msg", {"type": "token_count", "info": told})
    assert outputs("codex", bad) == ([], 1)


def test_a_message_without_usage_is_fine() -> None:
    bare = {"id": "m", "content": []}
    assert outputs("claude", {"type": "assistant", "message": bare}) == ([], 0)


def test_a_not_a_number_in_usage_is_unreadable() -> None:
    line = json.dumps(claude.said()).replace('"output_tokens": 20', '"output_tokens": NaN')
    assert outputs("claude", line.encode()) == ([], 1)


def test_usage_beside_fields_of_other_types_is_counted() -> None:
    odd = claude.said(
        claude.usage(service_tier=5, speed={}, inference_geo=[]),
        model=7,
        content=["x", {"type": "tool_use", "id": 9}, claude.tool("t1")],
        uuid=5,
        timestamp=1_793_610_001,
        sessionId=None,
        cwd=[],
        isSidechain="no",
    )
    (call,) = claude.calls(odd)
    assert (call.output, call.model, call.session, call.tools) == (20, "", "5f", ("t1",))
    assert (call.at_us, call.side, call.context) == (0, False, "")
    told = {**codex.counted(codex.amount(10, 20)), "timestamp": 5}
    told["payload"] |= {"id": 5, "model": {}}
    assert [call.output for call in codex.calls(told)] == [20]


def test_usage_beside_a_text_that_was_cut_within_a_character_is_counted() -> None:
    line = claude.said(content=[{"type": "text", "text": "cut \ud83d"}, claude.tool("t1")])
    (call,) = claude.calls(line)
    assert (call.output, call.tools) == (20, ("t1",))


def test_what_is_told_can_be_stored_whatever_the_line_held() -> None:
    (call,) = claude.calls(claude.said(id="m\ud83d", model="x\udc00"))
    assert (call.id, call.model) == ("m?", "x?")
    line = json.dumps(claude.said(id="m__")).encode().replace(b"m__", b"m\xff")
    assert [call.id for call in claude.calls(line)] == ["m\ufffd"]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01T00:00:01.000001Z", 1_000_001),
        ("1970-01-01T01:00:01+01:00", 1_000_000),
        ("1970-01-01T00:00:01", 1_000_000),
        ("1969-01-01T00:00:00Z", 0),
        ("0001-01-01T00:00:00+14:00", 0),
        ("yesterday", 0),
        ("", 0),
    ],
)
def test_times_are_utc_microseconds_and_none_is_0(text: str, moment: int) -> None:
    assert moment_us(text) == moment


def test_a_text_is_one_that_can_be_stored() -> None:
    assert [text_of(value) for value in ("a", "a\ud800", None, 5)] == ["a", "a?", "", ""]


def test_pieces_are_whole_lines_of_about_one_size_and_nothing_is_lost() -> None:
    short, long = b"x" * 99 + b"\n", b"y" * 2 * PIECE_BYTES + b"\n"
    chunk = short * 9_000 + long + short * 9_000 + long + b"no end"
    cut = [bytes(piece) for piece in pieces(chunk)]
    assert b"".join(cut) == chunk
    assert all(piece.endswith(b"\n") for piece in cut[:-1])
    assert max(map(len, cut)) <= len(long) + PIECE_BYTES
    assert len(cut) >= 4
    assert [bytes(piece) for piece in pieces(b"")] == [b""]

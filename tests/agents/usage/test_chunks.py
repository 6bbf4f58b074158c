"""How a file is cut into chunks changes nothing, and no bytes stop a reader."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.usage import claude_transcript as claude
from tests.agents.usage import codex_rollout as codex
from watchgate.agents.usage.usage_readers import READERS
from watchgate.core.usage.usage_calls import UsageCall

SECONDS = st.integers(0, 59)
TORN = st.sampled_from([b"", b"{", b'{"type":"assistant","mess', b"5", b'{"message":null}'])


@st.composite
def claude_lines(draw: st.DrawFn) -> Any:
    at = f"2026-11-02T09:00:{draw(SECONDS):02}Z"
    if draw(st.booleans()):
        return claude.asked(draw(st.sampled_from(["u0", "u1"])), timestamp=at)
    told = claude.usage(
        output_tokens=draw(st.integers(0, 9)), speed=draw(st.sampled_from(["fast", None]))
    )
    return claude.said(
        told,
        id=draw(st.sampled_from(["m1", "m2", None])),
        stop_reason=draw(st.sampled_from([None, "end_turn"])),
        content=draw(st.sampled_from([None, [claude.tool("t1")], [claude.tool("t2")]])),
        requestId=draw(st.sampled_from(["r1", None])),
        isSidechain=draw(st.booleans()),
        uuid=draw(st.sampled_from(["l1", "l2", None])),
        timestamp=at,
    )


@st.composite
def codex_lines(draw: st.DrawFn) -> Any:
    figures = st.builds(codex.amount, st.integers(0, 5), st.integers(0, 5))
    lines = (
        st.builds(codex.counted, figures, st.none() | figures),
        st.builds(codex.used, st.sampled_from("abc")),
        st.builds(codex.turn, st.sampled_from(["gpt-6-sol", None])),
        st.builds(codex.meta, st.sampled_from(["x1", "x2"])),
    )
    return draw(st.one_of(lines))


LINES = {"claude": claude_lines(), "codex": codex_lines()}


def told(agent: str, chunks: list[bytes]) -> tuple[Any, ...]:
    """What a reader says after all chunks, asked after each of them."""
    reader = READERS[agent]("/p/5f.jsonl")
    calls: dict[tuple[str, str, bool], UsageCall] = {}
    for chunk in chunks:
        reader.read(chunk)
        calls |= {(call.id, call.request, call.side): call for call in reader.take()}
    facts = reader.facts
    return calls, reader.unreadable, facts.context_used, facts.cwd, facts.session, facts.thread


@pytest.mark.parametrize("agent", LINES)
@given(data=st.data())
def test_the_same_lines_in_any_chunks_tell_the_same(agent: str, data: st.DataObject) -> None:
    lines = data.draw(st.lists(LINES[agent] | TORN, max_size=12))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(lines)), max_size=4)))
    bounds = [0, *cuts, len(lines)]
    parts = [lines[a:b] for a, b in itertools.pairwise(bounds)]
    assert told(agent, [claude.jsonl(*part) for part in parts]) == told(
        agent, [claude.jsonl(*lines)]
    )


@pytest.mark.parametrize("agent", LINES)
@given(data=st.data())
def test_no_bytes_stop_a_reader(agent: str, data: st.DataObject) -> None:
    whole = claude.jsonl(*data.draw(st.lists(LINES[agent], min_size=1, max_size=3)))
    at = data.draw(st.integers(0, len(whole)))
    noise = data.draw(st.binary(max_size=40))
    told(agent, [whole[:at] + noise + whole[at + len(noise) // 2 :]])
    told(agent, [noise])

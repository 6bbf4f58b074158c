"""What Qwen Code's recorded chats tell of usage."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.usage.reads import AT, AT_US, JSON, jsonl, left, one, without
from watchgate.agents.usage.qwen_usage import QwenReader
from watchgate.core.usage.usage_calls import UsageCall

SESSION = "90b1d4de-70a4-4a5b-8bd3-5b7d8a3a2a11"
PATH = f"/home/dev/.qwen/projects/-home-dev-demo/chats/{SESSION}.jsonl"
UUID = "0b9cf4f2-6cb0-4c9c-8a3b-1b2a3c4d5e6f"
USAGE = {
    "promptTokenCount": 10_200,
    "candidatesTokenCount": 400,
    "thoughtsTokenCount": 150,
    "cachedContentTokenCount": 8_000,
    "totalTokenCount": 10_750,
}
ASKED = {"uuid": "u-1", "type": "user", "timestamp": AT, "sessionId": SESSION, "cwd": "/srv/app"}
CALLS = {"parts": [{"text": "x"}, {"functionCall": {"id": "call-1", "name": "shell"}}]}
ANSWER = {
    "uuid": UUID,
    "type": "assistant",
    "timestamp": AT,
    "sessionId": SESSION,
    "model": "qwen3-coder-plus",
    "message": CALLS,
    "usageMetadata": USAGE,
    "contextWindowSize": 200_000,
}


def read(*records: Any, path: str = PATH) -> QwenReader:
    reader = QwenReader(path)
    reader.read(jsonl(*records))
    return reader


def test_an_answer_in_counts_that_do_not_overlap() -> None:
    reader = read(ASKED, ANSWER)

    assert one(reader) == UsageCall(
        id=UUID,
        at_us=AT_US,
        session=SESSION,
        model="qwen3-coder-plus",
        input=2_200,
        output=550,
        cache_read=8_000,
        reasoning=150,
        request=UUID,
        turn="u-1",
        tools=("call-1",),
    )
    facts = reader.facts
    assert (facts.session, facts.cwd) == (SESSION, "/srv/app")
    assert (facts.context_used, facts.context_size) == (10_750, 200_000)


@pytest.mark.parametrize(("total", "output"), [(10_750, 550), (10_600, 400), (None, 550)])
def test_thoughts_are_counted_once_whatever_the_endpoint_does(
    total: int | None, output: int
) -> None:
    call = one(read(ANSWER | {"usageMetadata": USAGE | {"totalTokenCount": total}}))

    assert (call.output, call.reasoning) == (output, 150)


def test_a_total_that_nobody_split_is_a_lower_bound() -> None:
    call = one(read(ANSWER | {"usageMetadata": {"totalTokenCount": 900}}))

    assert (call.input, call.output, call.is_lower_bound) == (900, 0, True)


def test_a_sub_agents_file_belongs_to_the_session_of_its_folder() -> None:
    path = f"/home/dev/.qwen/projects/-home-dev-demo/subagents/{SESSION}/agent-explore-7f.jsonl"
    named = ANSWER | {"agentId": "explore-7f", "isSidechain": True}
    for record in (named, without(ANSWER, "sessionId")):
        call = one(read(record, path=path))
        assert (call.session, call.sub, call.side) == (SESSION, "explore-7f", True)


def test_a_branched_sessions_copies_give_way_to_what_they_are_copies_of() -> None:
    copy = ANSWER | {"sessionId": "branch", "forkedFrom": {"sessionId": SESSION}}
    reader = read(copy)
    call = one(reader)

    assert (call.id, call.request, call.side, call.sub) == (UUID, UUID, True, "")
    assert reader.facts.context_used is None


def test_usage_that_is_told_beside_the_answers_is_none() -> None:
    event = {"type": "system", "uuid": "s", "usageMetadata": USAGE}

    assert left(read(event, ANSWER | {"usageMetadata": None})) == []


@pytest.mark.parametrize("usage", [{"promptTokenCount": -1}, {"totalTokenCount": 2.5}, [], "x"])
def test_figures_that_cannot_be_taken_are_told(usage: Any) -> None:
    reader = read(ANSWER | {"usageMetadata": usage})

    assert (left(reader), reader.unreadable) == ([], 1)


def test_an_answer_without_an_id_cannot_be_counted() -> None:
    assert read(without(ANSWER, "uuid")).unreadable == 1


def test_an_odd_field_that_does_not_matter_costs_nothing() -> None:
    reader = read(ANSWER | {"message": "hello", "cwd": 5, "forkedFrom": "x", "isSidechain": "no"})

    assert (one(reader).input, reader.unreadable) == (2_200, 0)


@given(st.dictionaries(st.sampled_from(sorted(ANSWER)), JSON), st.binary())
def test_nothing_in_a_file_is_ever_an_error(changes: dict[str, Any], noise: bytes) -> None:
    for path in (PATH, "", "subagents/x"):
        reader = QwenReader(path)
        reader.read(jsonl(ANSWER | changes) + noise)
        calls = left(reader)
        assert all(call.tokens > 0 for call in calls)
        msgspec.msgpack.encode(calls)

"""What transcripts of Claude Code tell of usage."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.usage.claude_transcript import (
    AGENT_PATH,
    AT_US,
    asked,
    calls,
    jsonl,
    read,
    said,
    tool,
    usage,
)
from watchgate.core.usage.usage_calls import UsageCall


def test_one_line_is_one_call_with_counts_that_do_not_overlap() -> None:
    told = usage(
        cache_creation_input_tokens=3_100,
        cache_creation={"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 3_000},
        output_tokens_details={"thinking_tokens": 7},
        server_tool_use={"web_search_requests": 2, "web_fetch_requests": 1},
    )
    assert calls(said(told)) == [
        UsageCall(
            id="msg_1",
            at_us=AT_US,
            session="5f",
            model="claude-opus-5-5",
            input=10,
            output=20,
            cache_read=300,
            cache_5m=100,
            cache_1h=3_000,
            reasoning=7,
            web_searches=2,
            request="req_1",
        )
    ]


def test_usage_that_each_block_of_a_response_repeats_is_counted_once() -> None:
    assert len(calls(said(), said(content=[tool("t1")]), said())) == 1


def test_where_the_output_grew_line_by_line_the_largest_is_what_was_used() -> None:
    lines = [said(usage(output_tokens=output)) for output in (1, 70, 500, 70)]
    (call,) = calls(*lines)
    assert call.output == 500


def test_figures_are_those_of_the_model_that_the_line_with_the_most_output_names() -> None:
    small = said(usage(output_tokens=1), model="small")
    (call,) = calls(small, said(usage(output_tokens=9), model="large"), said(model=None))
    assert (call.model, call.output) == ("large", 20)
    reader = read(small)
    reader.take()
    reader.read(jsonl(said(usage(output_tokens=9), model="large")))
    assert [(call.model, call.output) for call in reader.take()] == [("large", 9)]


def test_a_response_that_is_told_anew_later_keeps_its_key_and_its_first_time() -> None:
    reader = read(asked("u0"), said(usage(output_tokens=1), content=[tool("t1")]))
    first = reader.take()
    later = said(usage(output_tokens=90), content=[tool("t2")], timestamp="2026-11-02T10:00:00Z")
    reader.read(jsonl(asked("u2"), later))
    (anew,) = reader.take()
    assert [call.output for call in first] == [1]
    assert (anew.output, anew.at_us, anew.turn, anew.tools) == (90, AT_US, "u0", ("t1", "t2"))
    assert reader.take() == []


@pytest.mark.parametrize("request_id", [None, ""])
def test_a_request_id_that_is_null_or_missing_is_empty(request_id: str | None) -> None:
    absent = {name: value for name, value in said().items() if name != "requestId"}
    for line in (said(requestId=request_id), absent):
        (call,) = calls(line, line, line)
        assert (call.id, call.request) == ("msg_1", "")


def test_another_request_is_another_call_as_far_as_one_file_can_tell() -> None:
    assert [call.request for call in calls(said(), said(requestId="req_2"))] == ["req_1", "req_2"]


def test_a_response_without_an_id_is_named_by_its_line() -> None:
    lines = [said(id=None, uuid=uuid) for uuid in ("u1", "u2", "u1")]
    assert [(call.id, call.request) for call in calls(*lines)] == [("u1", ""), ("u2", "")]


def test_responses_without_any_id_are_all_counted() -> None:
    lines = [said(id=None, uuid=None)] * 3
    assert len(calls(*[said(id="", uuid=uuid) for uuid in ("u1", "u2")])) == 2
    found = calls(*lines, path=AGENT_PATH) + calls(*lines, path=AGENT_PATH.replace("a1", "a2"))
    assert len({call.id for call in found}) == 6


def test_an_inline_side_chain_belongs_to_its_agent_and_to_the_turn_it_was_begun_in() -> None:
    side = said(isSidechain=True, agentId="a7", id="msg_2")
    unnamed = said(isSidechain=True, id="msg_3")
    main, named, other = calls(asked("u0"), said(), asked("s0", isSidechain=True), side, unnamed)
    assert (main.side, main.sub, main.turn) == (False, "", "u0")
    assert (named.side, named.sub, named.turn, named.session) == (True, "a7", "u0", "5f")
    assert (other.side, other.sub) == (True, "sidechain")


def test_the_file_of_a_sub_agent_names_it_and_the_session_where_its_lines_do_not() -> None:
    bare = {**said(isSidechain=None), "sessionId": None}
    (call,) = calls(bare, path=AGENT_PATH)
    assert (call.session, call.side, call.sub) == ("5f", True, "a1")
    workflow = AGENT_PATH.replace("subagents/", "subagents/workflows/w1/")
    (call,) = calls(bare, path=workflow)
    assert (call.session, call.sub) == ("5f", "a1")
    (call,) = calls(said(isSidechain=True), path="/p/agent-b2.jsonl")
    assert (call.session, call.sub) == ("5f", "b2")


def test_a_session_without_an_id_in_its_lines_is_named_by_its_file() -> None:
    (call,) = calls({**said(), "sessionId": None})
    assert call.session == "5f"


def test_an_error_that_the_client_made_up_is_no_call() -> None:
    nothing = {"input_tokens": 0, "output_tokens": 0}
    assert calls(said(nothing, model="<synthetic>", requestId=None)) == []


@pytest.mark.parametrize(
    ("told", "writes"),
    [
        ({"cache_creation_input_tokens": 50}, (50, 0)),
        ({"cache_creation_input_tokens": 0, "cache_creation": {"m": 30, "h": 20}}, (30, 20)),
        ({"cache_creation_input_tokens": 80, "cache_creation": {"m": 30, "h": 20}}, (60, 20)),
        ({"cache_creation_input_tokens": 50, "cache_creation": None}, (50, 0)),
        ({"cache_creation_input_tokens": None, "cache_creation": {"m": 30, "h": None}}, (30, 0)),
    ],
)
def test_cache_writes_are_the_larger_telling_and_what_has_no_time_is_for_five_minutes(
    told: dict[str, Any], writes: tuple[int, int]
) -> None:
    if parts := told.get("cache_creation"):
        names = {"m": "ephemeral_5m_input_tokens", "h": "ephemeral_1h_input_tokens"}
        told["cache_creation"] = {names[name]: value for name, value in parts.items()}
    (call,) = calls(said(usage(**told)))
    assert (call.cache_5m, call.cache_1h) == writes


@pytest.mark.parametrize(
    ("told", "context"),
    [
        ({"speed": "standard", "inference_geo": "not_available"}, ""),
        ({"speed": "fast"}, "fast"),
        ({"service_tier": "priority"}, "priority"),
        ({"service_tier": "batch", "speed": "fast"}, "fast batch"),
        ({"service_tier": "flex", "inference_geo": "us"}, "flex us"),
        ({"inference_geo": "us"}, "us"),
    ],
)
def test_what_chooses_another_price_is_in_the_context(told: dict[str, Any], context: str) -> None:
    (call,) = calls(said(usage(**told)))
    assert call.context == context


def test_a_response_of_which_only_the_beginning_was_written_is_at_least_that() -> None:
    (call,) = calls(said(stop_reason=None), said(stop_reason=None))
    assert call.is_lower_bound
    (call,) = calls(said(stop_reason=None), said(stop_reason="tool_use"))
    assert not call.is_lower_bound


def test_a_stop_that_comes_later_makes_the_figures_exact() -> None:
    reader = read(said(stop_reason=None))
    assert [call.is_lower_bound for call in reader.take()] == [True]
    reader.read(jsonl(said(stop_reason="end_turn")))
    assert [call.is_lower_bound for call in reader.take()] == [False]


def test_usage_is_never_taken_from_progress_lines_quotes_or_what_a_person_said() -> None:
    progress = {"type": "progress", "data": {"message": said(usage(input_tokens=999))}}
    quote = asked("u0", 'a tool said {"message":{"id":"msg_1","usage":{"input_tokens":999}}}')
    fake = {**said(), "type": "user"}
    reader = read(progress, quote, fake, {"type": "summary", "usage": usage()})
    assert (reader.take(), reader.unreadable) == ([], 0)


def test_spaces_between_the_parts_of_a_line_do_not_matter() -> None:
    spaced = (
        b'{ "type" : "assistant" , "message" : { "id" : "m" , "usage" : { "output_tokens" : 3 } } }'
    )
    assert [call.output for call in calls(spaced)] == [3]


def test_null_fields_are_as_good_as_missing_ones() -> None:
    told = usage(cache_creation=None, server_tool_use=None, speed=None, iterations=None)
    (call,) = calls({**said(told), "agentId": None, "requestId": None, "promptId": None})
    assert (call.input, call.output, call.context) == (10, 20, "")


def test_a_turn_begins_with_a_prompt_and_not_with_what_a_tool_returned() -> None:
    result = asked("r1", [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}])
    meta = asked("m1", isMeta=True)
    (call,) = calls(asked("u0", [{"type": "text", "text": "go"}]), result, meta, said())
    assert call.turn == "u0"
    (call,) = calls(asked("u0"), asked("u1", promptId="p1"), said())
    assert call.turn == "p1"


def test_the_tools_of_a_call_are_those_of_all_its_blocks_each_once() -> None:
    blocks = ([tool("t1"), tool("t2")], [tool("t2"), tool("t3")], "text", None)
    (call,) = calls(*[said(content=content) for content in blocks])
    assert call.tools == ("t1", "t2", "t3")


def test_the_context_is_filled_by_what_the_newest_call_of_the_main_chain_read() -> None:
    newest = said(usage(input_tokens=5, cache_creation_input_tokens=45), id="msg_2")
    late = said(usage(input_tokens=9_999), id="msg_4", timestamp="2026-11-01T00:00:00Z")
    side = said(usage(input_tokens=9_999), id="msg_3", isSidechain=True)
    facts = read(said(), newest, side, late).facts
    assert (facts.context_used, facts.context_size, facts.cwd) == (350, None, "/src")
    assert (facts.session, facts.sub, facts.thread, facts.parent) == ("5f", "", "", "")


def test_the_file_of_a_sub_agent_fills_no_context_of_the_session() -> None:
    facts = read(said(isSidechain=True), path=AGENT_PATH).facts
    assert (facts.context_used, facts.session, facts.sub) == (None, "5f", "a1")

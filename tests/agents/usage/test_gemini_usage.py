"""What Gemini CLI's recorded chats tell of usage."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.usage.reads import AT, AT_US, JSON, in_parts, jsonl, left, one
from watchgate.agents.usage.gemini_usage import GeminiReader
from watchgate.core.usage.usage_calls import UsageCall

SESSION = "5f6e0c5a-8f4f-4a0e-9a63-0a5c1c1e9d10"
PATH = "/home/dev/.gemini/tmp/abab/chats/session-2026-11-02T09-00-5f6e0c5a.jsonl"
ID = "0b9cf4f2-6cb0-4c9c-8a3b-1b2a3c4d5e6f"
TOKENS = {"input": 9_000, "output": 300, "cached": 7_000, "thoughts": 120, "tool": 40}
META = {"sessionId": SESSION, "projectHash": "ab", "startTime": AT, "kind": "main"}
ASKED = {"id": "u-1", "timestamp": AT, "type": "user", "content": "q"}
EMPTY = {"id": ID, "timestamp": AT, "type": "gemini", "model": "gemini-3.1-pro", "content": "x"}
ANSWER = EMPTY | {"tokens": TOKENS}


def read(*records: Any, path: str = PATH) -> GeminiReader:
    reader = GeminiReader(path)
    reader.read(jsonl(*records))
    return reader


def test_a_message_in_counts_that_do_not_overlap() -> None:
    answer = ANSWER | {"toolCalls": [{"id": "t-1", "name": "shell"}, {"id": "t-2"}]}
    reader = read(META, ASKED, EMPTY, answer)

    assert one(reader) == UsageCall(
        id=ID,
        at_us=AT_US,
        session=SESSION,
        model="gemini-3.1-pro",
        input=2_040,
        output=420,
        cache_read=7_000,
        reasoning=120,
        request=ID,
        provider="google",
        turn="u-1",
        tools=("t-1", "t-2"),
    )
    assert (reader.facts.session, reader.facts.context_used) == (SESSION, 9_460)
    assert reader.unreadable == 0


def test_the_newest_of_what_is_written_under_one_id_counts() -> None:
    later = ANSWER | {"tokens": TOKENS | {"output": 900}}

    assert one(read(META, ANSWER, later, EMPTY)).output == 1_020


def test_a_rewind_does_not_give_tokens_back() -> None:
    second = ANSWER | {"id": ID[::-1]}

    assert len(left(read(META, ANSWER, second, {"$rewindTo": ID}))) == 2


def test_messages_that_are_set_anew_are_the_same_calls() -> None:
    second = ANSWER | {"id": ID[::-1]}
    reader = read(META, ANSWER, {"$set": {"lastUpdated": AT, "messages": [ANSWER, second]}})

    assert [call.id for call in left(reader)] == [ID, ID[::-1]]


def test_a_sub_agents_file_belongs_to_the_session_of_its_folder() -> None:
    path = f"/home/dev/.gemini/tmp/abab/chats/{SESSION}/sub-7.jsonl"
    reader = read({**META, "sessionId": "sub-7", "kind": "subagent"}, ANSWER, path=path)
    call = one(reader)

    assert (call.session, call.sub, call.side) == (SESSION, "sub-7", True)
    assert (reader.facts.sub, reader.facts.context_used) == ("sub-7", None)


def test_an_older_chat_is_one_object_of_several_lines() -> None:
    reader = GeminiReader(PATH.removesuffix("l"))
    whole = {**META, "messages": [ASKED, ANSWER]}
    reader.read(msgspec.json.format(msgspec.json.encode(whole), indent=2))

    assert (one(reader).id, one_again(reader)) == (ID, [])
    assert reader.facts.session == SESSION


def one_again(reader: GeminiReader) -> list[UsageCall]:
    """What is told when nothing was read meanwhile."""
    return reader.take()


def test_a_file_without_metadata_is_named_after_itself() -> None:
    assert one(read(ANSWER)).session == "session-2026-11-02T09-00-5f6e0c5a"


def test_a_short_id_is_one_of_its_session_only() -> None:
    assert one(read(META, ANSWER | {"id": "g1"})).request == ""


def test_the_time_of_a_message_without_one_is_that_before_it() -> None:
    reader = read(META, ASKED, ANSWER | {"timestamp": "yesterday"})

    assert one(reader).at_us == AT_US


@pytest.mark.parametrize(
    "tokens", [{"input": -1}, {"output": "9"}, {"cached": 1.5}, {"input": 1 << 60}, [], "x"]
)
def test_figures_that_cannot_be_taken_are_told(tokens: Any) -> None:
    reader = read(META, ANSWER | {"tokens": tokens}, ANSWER | {"id": ID[::-1]})

    assert [call.id for call in left(reader)] == [ID[::-1]]
    assert reader.unreadable == 1


def test_an_odd_field_that_does_not_matter_costs_nothing() -> None:
    odd = ANSWER | {"toolCalls": "none"}
    broken = ANSWER | {"id": ID[::-1], "tokens": {"input": None, "output": True}}
    reader = read(META, odd, {"$set": {"messages": [broken, 5, ANSWER | {"id": "x" * 20}]}})

    assert [call.id for call in left(reader)] == [ID, "x" * 20]
    assert reader.unreadable == 1


def test_a_torn_line_is_told_and_the_others_are_read() -> None:
    reader = GeminiReader(PATH)
    reader.read(jsonl(META) + b'{"id":"g\n\n' + jsonl(ANSWER) + b'{"id":"\\ud83d"}\n[1]\n')

    assert (one(reader).id, reader.unreadable) == (ID, 1)


def test_a_message_of_nothing_is_no_call() -> None:
    assert left(read(META, ANSWER | {"tokens": {"input": 0, "output": None}})) == []


@given(st.lists(st.sampled_from([META, ASKED, EMPTY, ANSWER, {"$rewindTo": ID}]) | JSON))
def test_it_does_not_matter_in_which_pieces_lines_come(records: list[Any]) -> None:
    lines = [jsonl(each) for each in records]

    assert in_parts(GeminiReader(PATH), lines) == in_parts(GeminiReader(PATH), [b"".join(lines)])


@given(st.dictionaries(st.sampled_from([*sorted(ANSWER), "$set", "messages"]), JSON), st.binary())
def test_nothing_in_a_file_is_ever_an_error(changes: dict[str, Any], noise: bytes) -> None:
    for path in (PATH, PATH.removesuffix("l"), "", "/"):
        reader = GeminiReader(path)
        reader.read(jsonl(ANSWER | changes) + noise)
        calls = left(reader)
        assert all(call.tokens > 0 for call in calls)
        msgspec.msgpack.encode(calls)

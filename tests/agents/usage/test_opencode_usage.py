"""What OpenCode's messages tell of usage, in its database and in the files of older versions."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.usage.reads import JSON, in_parts, jsonl, left, one, without
from watchgate.agents.usage.opencode_usage import OpenCodeReader

DB = "/home/dev/.local/share/opencode/opencode.db"
FILE = "/home/dev/.local/share/opencode/storage/message/ses_1/msg_1.json"
TOKENS = {"input": 12, "output": 500, "reasoning": 30, "cache": {"read": 41_000, "write": 3_100}}
DATA = {
    "role": "assistant",
    "parentID": "msg_0",
    "modelID": "claude-sonnet-5-5",
    "providerID": "anthropic",
    "time": {"created": 1_793_610_000_000, "completed": 1_793_610_000_500},
    "path": {"cwd": "/srv/app", "root": "/srv/app"},
    "cost": 0.0123,
    "tokens": TOKENS,
}
OTHER = {**DATA, "time": {"created": 1_793_610_009_000}}


def row(data: Any = DATA, message: str = "msg_1", session: str = "ses_1", **more: Any) -> Any:
    return {"id": message, "session_id": session, "data": data, **more}


def read(*rows: Any) -> OpenCodeReader:
    reader = OpenCodeReader(DB)
    reader.read(jsonl(*rows))
    return reader


def test_a_message_in_counts_that_do_not_overlap() -> None:
    reader = read(row())
    call = one(reader)

    assert (call.session, call.model, call.provider) == ("ses_1", "claude-sonnet-5-5", "anthropic")
    assert (call.input, call.output, call.reasoning) == (12, 530, 30)
    assert (call.cache_read, call.cache_5m, call.cache_1h) == (41_000, 3_100, 0)
    assert (call.at_us, call.turn, call.side) == (1_793_610_000_000_000, "msg_0", False)
    facts = reader.facts_of("ses_1")
    assert facts is not None
    assert (facts.cwd, facts.context_used) == ("/srv/app", 44_642)
    assert reader.facts_of("ses_2") is None


@pytest.mark.parametrize(
    ("written", "pico"),
    [
        ("0.0123", 12_300_000_000),
        ("0.1000000000001", 100_000_000_000),
        ("0.3", 300_000_000_000),
        ("1.1e-7", 110_000),
        ("4503599627.370497", None),
        ("0", None),
        ("-1", None),
        ("1e999999", None),
    ],
)
def test_the_cost_is_taken_as_it_is_written(written: str, pico: int | None) -> None:
    """A count of nothing is what is written where nobody knows a price."""
    text = jsonl(row(DATA | {"cost": 7777})).replace(b"7777", written.encode())
    reader = OpenCodeReader(DB)
    reader.read(text)

    assert one(reader).reported == pico


@pytest.mark.parametrize(("total", "output"), [(None, 530), (44_642, 530), (44_612, 500)])
def test_reasoning_is_counted_once_whatever_a_version_does(total: int | None, output: int) -> None:
    assert one(read(row(DATA | {"tokens": TOKENS | {"total": total}}))).output == output


def test_a_message_that_streams_takes_its_own_place() -> None:
    nothing = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    begun = DATA | {"tokens": nothing, "cost": 0, "time": {"created": 1_793_610_000_000}}
    half = DATA | {"tokens": TOKENS | {"output": 9}}

    told = in_parts(OpenCodeReader(DB), [jsonl(row(each)) for each in (begun, half, DATA, DATA)])

    assert [call.output for call in told] == [530]


def test_what_a_fork_of_a_session_copies_is_the_first_sessions() -> None:
    rows = [row(), row(OTHER, "msg_2"), row(session="ses_0", message="msg_9")]
    for order in permutations(rows):
        told = in_parts(OpenCodeReader(DB), [jsonl(each) for each in order])
        assert sorted(call.session for call in told) == ["ses_1", "ses_1"]


def test_a_copy_keeps_standing_when_its_first_turns_out_to_be_another_call() -> None:
    rows = [row(), row(session="ses_2", message="msg_9"), row(OTHER)]

    told = in_parts(OpenCodeReader(DB), [jsonl(each) for each in rows])

    assert sorted(call.session for call in told) == ["ses_1", "ses_2"]


def test_copies_in_files_of_their_own_have_one_name() -> None:
    other = OpenCodeReader(FILE.replace("ses_1", "ses_2").replace("msg_1", "msg_9"))
    other.read(jsonl(DATA))
    first, copy = one(read(row())), one(other)

    assert (copy.id, copy.request) == (first.id, first.request)
    assert copy.session == "ses_2"


def test_two_messages_of_one_session_are_never_one_call() -> None:
    assert len(left(read(row(), row(message="msg_2")))) == 2


def test_a_session_below_another_is_its_sub_agent() -> None:
    reader = read(row(session="ses_3", parent_id="ses_1"))
    call = one(reader)

    assert (call.session, call.sub, call.side) == ("ses_1", "ses_3", True)
    assert reader.facts_of("ses_1") is None


@pytest.mark.parametrize("known", [{}, {"id": "msg_1", "sessionID": "ses_1"}])
def test_the_file_of_one_message(known: dict[str, str]) -> None:
    reader = OpenCodeReader(FILE)
    reader.read(msgspec.json.format(msgspec.json.encode(DATA | known), indent=2))

    assert one(reader) == one(read(row()))
    assert reader.facts.context_used == 44_642


def test_only_what_a_model_wrote_has_usage() -> None:
    told = [{"role": "user"}, without(DATA, "tokens"), DATA | {"role": "user"}]

    assert left(read(*(row(each) for each in told))) == []


@pytest.mark.parametrize(
    "tokens", [{"input": -5}, {"cache": {"read": "9"}}, {"output": 1.5}, [], "x"]
)
def test_figures_that_cannot_be_taken_are_told(tokens: Any) -> None:
    reader = read(row(DATA | {"tokens": tokens}), row(OTHER, "msg_2"))

    assert (len(left(reader)), reader.unreadable) == (1, 1)


def test_an_odd_field_that_does_not_matter_costs_nothing() -> None:
    reader = read(row(DATA | {"cost": "free", "path": 5, "parentID": []}))

    assert (one(reader).reported, reader.unreadable) == (None, 0)


def test_a_torn_file_is_told() -> None:
    reader = OpenCodeReader(FILE)
    reader.read(b'{"role": "assis\ntant')

    assert (left(reader), reader.unreadable) == ([], 1)


@given(st.dictionaries(st.sampled_from(sorted(DATA)), JSON), st.binary())
def test_nothing_in_a_file_is_ever_an_error(changes: dict[str, Any], noise: bytes) -> None:
    for path, record in ((DB, row(DATA | changes)), (FILE, DATA | changes), ("x.json", DATA)):
        reader = OpenCodeReader(path)
        reader.read(jsonl(record) + noise)
        reader.read(noise)
        msgspec.msgpack.encode(left(reader))

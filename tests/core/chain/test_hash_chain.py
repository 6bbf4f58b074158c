from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.chain.hash_chain import START, Chain, Head, JournalRow, row_hash, verify
from watchgate.core.model.events import Tool
from watchgate.core.model.records import CallData, Draft, NoteData

View = Callable[[dict[str, Any]], dict[str, Any]]


def whole(data: dict[str, Any]) -> dict[str, Any]:
    return data


def without_text(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key != "text"}


def note(text: str = "hello", at: int = 1_000) -> Draft:
    return Draft(kind="notice", at=at, data=NoteData(native="Note", text=text), agent="claude")


def rows(count: int, view: View = whole) -> list[JournalRow]:
    chain = Chain("core-a", START, view)
    return [chain.seal(note(f"n{i}", at=i))[1] for i in range(count)]


def changed(row: JournalRow, **fields: Any) -> JournalRow:
    return msgspec.structs.replace(row, **fields)


def test_numbers_are_gapless_and_each_record_holds_the_hash_of_the_one_before() -> None:
    chain = Chain("core-a", START, whole)
    records = [chain.seal(note())[0] for _ in range(3)]
    assert [record.seq for record in records] == [1, 2, 3]
    assert [record.prev for record in records] == ["", records[0].hash, records[1].hash]
    assert chain.head == Head(3, records[2].hash)


def test_a_chain_goes_on_from_the_head_it_is_given() -> None:
    first = rows(2)
    record, row = Chain("core-b", Head(2, first[1].hash), whole).seal(note())
    assert (record.seq, record.prev, record.core) == (3, first[1].hash, "core-b")
    assert verify([*first, row]).problem is None


def test_the_console_gets_the_whole_data_and_the_journal_its_view() -> None:
    record, row = Chain("core-a", START, without_text).seal(note("a secret"))
    assert record.data == {"native": "Note", "text": "a secret"}
    assert row.data == b'{"native":"Note"}'
    assert row.record().data == {"native": "Note"}
    assert (record.hash, record.prev) == (row.hash, row.prev)


def test_the_hash_is_that_of_the_documented_array() -> None:
    tool = Tool("Bash", "Bash", "shell", {"b": 1, "a": "é"}, "00")
    data = CallData(native="PreToolUse", lane="gate", tool=tool, summary="é", gate="handback")
    draft = Draft(kind="tool.pre", at=5, data=data, agent="claude", session="s", call="c")
    _, row = Chain("core-a", Head(7, "ff"), whole).seal(draft)
    assert row.data is not None
    assert b'"input":{"a":"\xc3\xa9","b":1}' in row.data
    digest = hashlib.sha256(row.data).hexdigest()
    array = f'[1,8,"core-a",5,"tool.pre","claude","s",null,"c",null,"{digest}","ff"]'
    assert row.digest == digest
    assert row.hash == hashlib.sha256(array.encode()).hexdigest() == row_hash(row)


def test_plain_objects_are_data_too() -> None:
    record, row = Chain("core-a", START, whole).seal(Draft(kind="notice", at=1, data={"b": 1}))
    assert record.data == {"b": 1}
    assert row.data == b'{"b":1}'


@pytest.mark.parametrize("data", [{"text": "\ud800"}, {"what": object()}])
def test_data_without_a_json_form_moves_nothing(data: dict[str, Any]) -> None:
    chain = Chain("core-a", START, whole)
    with pytest.raises((ValueError, TypeError)):
        chain.seal(Draft(kind="notice", at=1, data=data))
    assert chain.head == START
    assert chain.seal(note())[0].seq == 1


def test_a_sound_chain_verifies_to_its_head() -> None:
    history = rows(5)
    verdict = verify(history)
    assert (verdict.count, verdict.head, verdict.problem) == (5, Head(5, history[4].hash), None)
    assert verify([]).head == START
    assert verify(history[2:], after=Head(2, history[1].hash)).count == 3


def test_a_purged_payload_leaves_the_chain_sound_and_is_counted() -> None:
    history = rows(4)
    history[1] = changed(history[1], data=None)
    verdict = verify(history)
    assert (verdict.problem, verdict.purged) == (None, 1)
    assert history[1].record().data == {}


@pytest.mark.parametrize("data", [b"{oops", b"[1]", b"\xff", b"[" * 100_000])
def test_a_damaged_payload_is_found_and_can_still_be_read_over(data: bytes) -> None:
    history = rows(4)
    history[1] = changed(history[1], data=data)
    assert verify(history).problem is not None
    assert history[1].record().data == {}


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"data": b'{"native":"Other"}'}, "record 2: its data does not match its digest"),
    ({"kind": "tool.pre"}, "record 2: its hash does not match its content"),
    ({"at": 9}, "record 2: its hash does not match its content"),
    ({"core": "core-b"}, "record 2: its hash does not match its content"),
    ({"agent": None}, "record 2: its hash does not match its content"),
    ({"session": "s"}, "record 2: its hash does not match its content"),
    ({"sub": "s"}, "record 2: its hash does not match its content"),
    ({"call": "c"}, "record 2: its hash does not match its content"),
    ({"request": "r"}, "record 2: its hash does not match its content"),
    ({"v": 2}, "record 2: its hash does not match its content"),
    ({"hash": "00"}, "record 2: its hash does not match its content"),
    ({"prev": "00"}, "record 2 does not follow from record 1"),
    ({"data": None, "digest": "00"}, "record 2: its hash does not match its content"),
]


@pytest.mark.parametrize(("fields", "message"), CHANGES)
def test_every_changed_field_is_named(fields: dict[str, Any], message: str) -> None:
    history = rows(3)
    history[1] = changed(history[1], **fields)
    verdict = verify(history)
    assert verdict.problem is not None
    assert verdict.problem.message == message
    assert (verdict.count, verdict.head.seq) == (1, 1)


def test_a_rewritten_record_with_a_fresh_hash_breaks_the_next_one() -> None:
    history = rows(3)
    forged = changed(history[1], kind="tool.pre")
    history[1] = changed(forged, hash=row_hash(forged))
    problem = verify(history).problem
    assert problem is not None
    assert problem.message == "record 3 does not follow from record 2"


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([1, 2, 4], "record 3 is missing"),
        ([2, 3, 4], "record 1 is missing"),
        ([1, 3, 2, 4], "record 2 stands after record 3"),
        ([1, 2, 2, 3], "record 2 stands after record 2"),
        ([1, 2, 3, 1, 4], "record 1 stands after record 3"),
    ],
)
def test_missing_and_reordered_records_are_told_apart(order: list[int], message: str) -> None:
    history = rows(4)
    problem = verify(history[number - 1] for number in order).problem
    assert problem is not None
    assert problem.message == message


def test_a_chain_that_begins_with_a_foreign_hash_is_not_from_its_start() -> None:
    _, row = Chain("core-a", Head(0, "ff"), whole).seal(note())
    problem = verify([row]).problem
    assert problem is not None
    assert problem.message == "record 1 does not follow from an empty journal"


@given(st.data())
def test_any_inserted_deleted_or_moved_row_is_found(data: st.DataObject) -> None:
    history = rows(6)
    at = data.draw(st.integers(0, 4))
    how = data.draw(st.sampled_from(["delete", "swap", "insert"]))
    if how == "delete":
        del history[at]
    elif how == "swap":
        history[at], history[at + 1] = history[at + 1], history[at]
    else:
        forged = changed(history[at], prev=history[at].hash)
        history.insert(at + 1, changed(forged, hash=row_hash(forged)))
    assert verify(history).problem is not None

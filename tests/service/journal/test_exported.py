"""An exported file is read back whole, or refused with the line that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.service.scribe import whole
from watchgate.core.chain.hash_chain import START, Chain
from watchgate.core.model.records import Draft, NoteData, Record
from watchgate.demo.demo_play import play
from watchgate.service.journal.verification import ExportError, each_record, is_export, read_export


def records(count: int) -> list[Record]:
    chain = Chain("core-a", START, whole)
    data = NoteData(native="Note", text="h\u00e9llo\n")
    return [
        chain.seal(Draft(kind="notice", at=at, data=data, agent="claude", session="s1"))[0]
        for at in range(1, count + 1)
    ]


def written(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


LINES = [msgspec.json.encode(record) for record in records(3)]


def test_what_was_written_out_is_read_back(tmp_path: Path) -> None:
    assert read_export(written(tmp_path / "a.jsonl", LINES)) == records(3)
    without_end = tmp_path / "b.jsonl"
    without_end.write_bytes(b"\n".join(LINES))
    assert read_export(without_end) == records(3)


def test_records_may_be_left_out(tmp_path: Path) -> None:
    assert [r.seq for r in read_export(written(tmp_path / "a", LINES[::2]))] == [1, 3]


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ([LINES[0], b"{"], "line 2 is not JSON"),
        ([LINES[0], b""], "line 2 is not JSON"),
        ([b"\xff"], "line 1 is not JSON"),
        ([b'{"data":{"a":' + b"[" * 100_000], "line 1 is not JSON"),
        ([LINES[0], b"[]"], "line 2 is not a record"),
        ([b'{"seq":1}'], "line 1 is not a record"),
        ([LINES[1], LINES[0]], "line 2 holds record 1 after record 2"),
        ([LINES[1], LINES[1]], "line 2 holds record 2 after record 2"),
        ([LINES[0].replace(b'"v":1', b'"v":9')], "line 1 was written by a newer Watchgate"),
        ([], "is empty"),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, lines: list[bytes], fault: str) -> None:
    path = written(tmp_path / "bad.jsonl", lines)
    with pytest.raises(ExportError) as found:
        read_export(path)
    assert fault in str(found.value)
    assert str(path) in str(found.value)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="cannot be read: No such file"):
        read_export(tmp_path / "none")


def test_an_argument_is_a_file_where_there_is_one(tmp_path: Path) -> None:
    assert is_export(str(written(tmp_path / "a.jsonl", LINES)))
    for word in (str(tmp_path), str(tmp_path / "none"), "s1", "x" * 5_000, "a\0b", ""):
        assert not is_export(word), word[:20]


def test_a_long_file_is_read_a_record_at_a_time(tmp_path: Path) -> None:
    some = each_record(written(tmp_path / "a.jsonl", [*LINES, b"{"]))
    assert [next(some).seq for _ in LINES] == [1, 2, 3]
    with pytest.raises(ExportError, match="line 4 is not JSON"):
        next(some)


@pytest.mark.parametrize(
    ("kind", "changes", "why"),
    [
        ("tool.pre", {"at": -1}, "no clock tells its time"),
        ("tool.pre", {"at": 2**62}, "no clock tells its time"),
        ("hook.trace", {"data": {"kind": 1}}, "the data of hook.trace"),
        ("approval.requested", {"data": {"tool": []}}, "the data of approval.requested"),
        ("policy.started", {"data": {"profile": "\x1b[2J"}}, "the data of policy.started"),
    ],
)
def test_what_nobody_could_show_is_refused_with_its_line(
    tmp_path: Path, kind: str, changes: dict[str, Any], why: str
) -> None:
    record = msgspec.structs.replace(
        Record(v=1, seq=1, core="c", at=1, kind=kind, data={"gate": "held"}), **changes
    )
    path = tmp_path / "hostile.jsonl"
    path.write_bytes(msgspec.json.encode(record) + b"\n")
    with pytest.raises(ExportError, match=f"line 1 is not a record: .*{why}"):
        read_export(path)


def test_whatever_a_core_records_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    lines = [msgspec.json.encode(record) + b"\n" for record in play(200.0)]
    path.write_bytes(b"".join(lines))
    assert len(read_export(path)) == len(lines) > 100

from __future__ import annotations

import json

import msgspec
import pytest

from tests.service.sinks.parts import record
from watchgate.cli.base.printing import json_line
from watchgate.core import codewhale
from watchgate.core.codewhale import Envelope, SerializationError, ToolLifecycle
from watchgate.core.model.records import Record
from watchgate.service.sinks.record_lines import as_bare_codewhale, as_codewhale, as_record

DENIED = record(3, kind="tool.pre", gate="denied", reason="no")


def test_a_record_is_written_as_tail_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    json_line(DENIED)
    assert as_record(DENIED).decode() == capsys.readouterr().out


def test_cw_b13_our_envelope_names_session_order_and_record() -> None:
    line = json.loads(as_record(DENIED))
    assert (line["session"], line["core"], line["seq"]) == ("one", "core-a", 3)


def test_cw_4_each_event_is_wrapped_with_its_time() -> None:
    lines = as_codewhale(msgspec.structs.replace(DENIED, at=1_780_228_768_000_001)).splitlines()
    assert len(lines) == 3
    for line in lines:
        assert set(json.loads(line)) == {"at", "event"}
        envelope = msgspec.json.decode(line, type=Envelope)
        assert codewhale.read_stamp(envelope.at) == 1_780_228_768_000_001
        assert envelope.at.endswith("+00:00")


def test_cw_4_stdout_gets_the_bare_events() -> None:
    wrapped = [json.loads(line)["event"] for line in as_codewhale(DENIED).splitlines()]
    assert [json.loads(line) for line in as_bare_codewhale(DENIED).splitlines()] == wrapped


def unwritable(kind: str = "tool.post") -> Record:
    return record(1, kind=kind, result="\ud800", ok=True)


def test_cw_3_an_event_that_cannot_be_written_becomes_a_serialization_error() -> None:
    frame, completed = as_codewhale(unwritable()).splitlines()
    assert msgspec.json.decode(frame, type=Envelope).event == SerializationError()
    assert json.loads(frame)["event"] == {"type": "serialization_error"}
    assert isinstance(msgspec.json.decode(completed, type=Envelope).event, ToolLifecycle)
    assert as_bare_codewhale(unwritable()).splitlines()[0] == b'{"type":"serialization_error"}'


def test_cw_3_a_record_that_cannot_be_written_keeps_its_number_and_says_so() -> None:
    line = json.loads(as_record(unwritable()))
    assert (line["seq"], line["kind"]) == (1, "tool.post")
    assert line["data"] == {"unwritable": "this record's data cannot be written as JSON"}


@pytest.mark.parametrize("wrap", [as_record, as_codewhale, as_bare_codewhale])
def test_whatever_it_says_a_record_is_whole_lines(wrap: object) -> None:
    assert callable(wrap)
    data = wrap(record(1, result="a\nb\r\n\u2028c", ok=True))
    assert data.endswith(b"\n")
    assert all(isinstance(json.loads(line), dict) for line in data.splitlines())

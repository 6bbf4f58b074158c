"""The fields of rows and records go by one set of names."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.requests import row
from watchgate.core.filters.filter_fields import RECORD_FIELDS, ROW_FIELDS, record_values
from watchgate.core.filters.filter_keys import KEYS, TEXT
from watchgate.core.filters.filter_parser import parse
from watchgate.core.model.records import Record

ALL = {name for name, key in KEYS.items() if not key.timed} | {TEXT, "at"}


def _record(kind: str, **data: Any) -> Record:
    return Record(
        v=1,
        seq=1,
        core="c",
        at=1_000,
        kind=kind,
        session="7f3a8b11-90",
        request="a41fkk",
        data=data,
    )


def test_rows_tell_all_that_the_language_names_and_records_all_but_the_host() -> None:
    assert set(ROW_FIELDS) == ALL
    assert set(RECORD_FIELDS) == ALL - {"host"}


@pytest.mark.parametrize(
    "text",
    [
        "session:api-fix",
        "state:done state:allowed-by-operator state:allowed",
        "by:operator",
        "took>=2s took<3s",
        "lane:gate rule:git.push request:a41f",
        "-host:lab2",
    ],
)
def test_a_row_is_found(text: str) -> None:
    keep = parse(text).over(ROW_FIELDS)
    assert keep
    assert keep(
        row(
            label="api-fix",
            stage="done",
            word="allowed-by-operator",
            took_ms=2_000,
            lane="gate",
            rule="git.push",
            request="a41fkk",
        )
    )


@pytest.mark.parametrize(
    "text",
    [
        "host:lab2",
        "session:api-fix",
        "session:lab2:api-fix",
        "session:7f",
        "request:a41f",
        "request:lab2/a41f",
    ],
)
def test_a_row_of_another_machine_is_found_by_host_and_by_its_own_name(text: str) -> None:
    keep = parse(text).over(ROW_FIELDS)
    assert keep
    assert keep(row(session="lab2/7f", label="lab2:api-fix", request="lab2/a41fkk"))


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (_record("tool.pre", gate="held", lane="gate", risk="high"), "state:held state:pending"),
        (_record("tool.pre", gate="denied", word="denied-by-rule"), "state:denied by:rule"),
        (_record("approval.requested", risk="high"), "state:pending risk>=high request:a41f"),
        (
            _record("approval.decided", word="denied-by-timeout", by="nobody", waited_s=30.5),
            'state:"timed out" by:nobody waited>30s -took>1ms',
        ),
        (
            _record("approval.decided", word="allowed-by-operator", by="operator kim (console 2)"),
            "state:allowed by:kim by:operator -state:running",
        ),
        (_record("effect.contradicted", alarm="DENIED BUT RAN"), "state:denied-but-ran"),
        (_record("effect.ungated", cause="c", why="w"), "state:ran-ungated"),
        (_record("tool.post", ok=True, took_ms=12), "state:done took<1s"),
        (_record("tool.error", ok=False), "state:failed -took>1ms"),
        (_record("hook.trace", tool="Bash", decided_by="no-force"), "tool:bash by:no-force"),
        (_record("notice"), "session:7f3a8b11 -tool:* -risk:* -state:done"),
        (_record("notice", risk=7, tool=9, word=[], by={}, took_ms="x"), "-risk:* -tool:* -by:*"),
    ],
)
def test_a_record_is_found(record: Record, text: str) -> None:
    assert parse(text).matches(record_values(record))

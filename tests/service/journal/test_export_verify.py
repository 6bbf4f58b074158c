"""An exported file proves itself as far as its records follow on each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from watchgate.core.chain.hash_chain import START, Chain, Head
from watchgate.core.model.records import Draft, Record
from watchgate.core.secrets.redact import journal_json
from watchgate.service.journal.verification import ExportError, is_database, verify_export

COUNT = 6
FIELDS = tuple(name for name in Record.__struct_fields__ if name not in ("seq", "v"))


def records(datas: list[dict[str, Any]]) -> list[Record]:
    """Records as the journal gives them back."""
    chain = Chain("core-a", START, lambda data: journal_json(data, "full"))
    drafts = (Draft(kind="notice", at=at, data=data) for at, data in enumerate(datas))
    return [chain.seal(draft)[1].record() for draft in drafts]


def notes() -> list[Record]:
    return records([{"native": "Note", "text": f"n{number}"} for number in range(COUNT)])


def written(path: Path, kept: list[Record]) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in kept))
    return path


def message(path: Path, kept: list[Record], *anchors: Head) -> str:
    problem = verify_export(written(path, kept), anchors=anchors).problem
    assert problem is not None
    return problem.message


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "export.jsonl"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(datas=st.lists(st.dictionaries(st.text(), JSON, max_size=4), min_size=1, max_size=4))
def test_whatever_a_journal_keeps_is_proven_by_its_export(
    path: Path, datas: list[dict[str, Any]]
) -> None:
    verdict = verify_export(written(path, records(datas)))
    assert (verdict.problem, verdict.count) == (None, len(datas))


def test_a_file_that_begins_later_is_proven_from_there(path: Path) -> None:
    kept = notes()[2:]
    verdict = verify_export(written(path, kept))
    assert (verdict.problem, verdict.start.seq, verdict.head.hash) == (None, 2, kept[-1].hash)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("index", [0, 3, COUNT - 1])
def test_a_changed_field_names_its_record(path: Path, field: str, index: int) -> None:
    kept = notes()
    value: Any = {"at": 77, "data": {"native": "Other"}}.get(field, "f" * 64)
    kept[index] = msgspec.structs.replace(kept[index], **{field: value})
    problem = verify_export(written(path, kept)).problem
    assert problem is not None
    assert problem.seq == index + 1


def test_a_record_that_was_left_out_is_named(path: Path) -> None:
    kept = notes()
    del kept[3]
    assert message(path, kept) == "record 4 is missing"


def test_records_in_another_order_are_no_export(path: Path) -> None:
    kept = notes()
    kept[2], kept[3] = kept[3], kept[2]
    with pytest.raises(ExportError, match="record 3 after record 4"):
        verify_export(written(path, kept))


def test_a_record_without_its_data_cannot_be_proven(path: Path) -> None:
    kept = notes()
    kept[3] = msgspec.structs.replace(kept[3], data={})
    assert message(path, kept) == "record 4 has no data here that its hash could prove"


def test_anchors_are_compared_with_what_is_there(path: Path) -> None:
    kept = notes()[1:]
    held = [Head(record.seq, record.hash) for record in kept]
    assert verify_export(written(path, kept), anchors=held).problem is None
    verdict = verify_export(path, anchors=[Head(1, kept[0].prev), Head(1, "x"), *held])
    assert verdict.problem is not None
    assert verdict.problem.seq == 1
    assert "record 9 is missing" in message(path, kept, Head(9, "0" * 64))


def test_a_database_is_told_from_lines(path: Path) -> None:
    assert not is_database(written(path, notes()))
    path.write_bytes(b"SQLite format 3\x00...")
    assert is_database(path)
    with pytest.raises(ExportError, match="cannot be read"):
        is_database(path.parent)

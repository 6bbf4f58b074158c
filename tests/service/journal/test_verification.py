"""Whatever is done to a journal behind the core's back is found, and named by its first record."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.service.past import Past, resealed
from watchgate.core.chain.chain_walk import KIND as CHECKPOINT
from watchgate.core.chain.hash_chain import Chain, Head, JournalRow, Verification
from watchgate.core.model.records import CheckpointData, Draft
from watchgate.core.secrets.redact import journal_json
from watchgate.service.journal import journal_reader
from watchgate.service.journal.journal_disk import head_path
from watchgate.service.journal.verification import verify_journal

FIELDS = tuple(name for name in JournalRow.__struct_fields__ if name != "seq")
EXAMPLES = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])

STEP = st.one_of(
    st.tuples(st.just("note"), st.sampled_from("abc")),
    st.tuples(st.just("purge"), st.sampled_from("ab")),
    st.tuples(st.just("let go"), st.integers(1, 6), st.integers(0, 6)),
)


def made(steps: list[tuple[Any, ...]]) -> Past:
    past = Past()
    for session in "abab":
        past.note(session)
    does: dict[str, Callable[..., None]] = {
        "note": past.note,
        "purge": past.purge,
        "let go": past.let_go,
    }
    for what, *values in steps:
        does[what](*values)
    for session in "bca":
        past.note(session)
    return past


PASTS = st.lists(STEP, max_size=10).map(made)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal" / "journal.db"


def after(past: Past, path: Path, rows: list[JournalRow]) -> Verification:
    """The verification on a journal whose rows were exchanged for these."""
    return verify_journal(past.written(path, rows))


def unaccounted(rows: list[JournalRow]) -> int:
    """The first record that none of the checkpoints among these rows lets go."""
    told = [msgspec.json.decode(row.data or b"") for row in rows if row.kind == CHECKPOINT]
    return max((each["removed_to"] for each in told), default=0) + 1


def named(verification: Verification) -> int:
    assert verification.problem is not None
    return verification.problem.seq


@EXAMPLES
@given(past=PASTS)
def test_a_past_that_the_core_alone_made_is_sound(past: Past, path: Path) -> None:
    verification = verify_journal(past.written(path))
    last = past.rows[-1]
    assert (verification.problem, verification.unheaded) == (None, 0)
    assert (verification.count, verification.head) == (len(past.rows), Head(last.seq, last.hash))
    assert verification.start == Head(past.rows[0].seq - 1, past.rows[0].prev)
    assert verification.purged == sum(row.data is None for row in past.rows)


@EXAMPLES
@given(past=PASTS, field=st.sampled_from(FIELDS), data=st.data())
def test_a_changed_field_names_its_record(
    past: Past, path: Path, field: str, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(past.rows) - 1))
    row = past.rows[index]
    value: Any = {"v": 2, "at": row.at + 1, "data": b'{"native":"Other"}'}.get(field, "f" * 64)
    forged = msgspec.structs.replace(row, **{field: value})
    rows = [*past.rows[:index], forged, *past.rows[index + 1 :]]
    assert named(after(past, path, rows)) == row.seq


@EXAMPLES
@given(past=PASTS, data=st.data())
def test_data_that_are_dropped_without_a_record_name_theirs(
    past: Past, path: Path, data: st.DataObject
) -> None:
    whole = [row for row in past.rows if row.session is not None and row.data is not None]
    row = data.draw(st.sampled_from(whole))
    rows = [msgspec.structs.replace(each, data=None) if each is row else each for each in past.rows]
    assert named(after(past, path, rows)) == row.seq


@EXAMPLES
@given(past=PASTS, data=st.data())
def test_a_record_that_is_rewritten_with_a_fresh_hash_breaks_what_follows(
    past: Past, path: Path, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(past.rows) - 1))
    text = b'{"native":"Other"}'
    row = past.rows[index]
    forged = resealed(row, data=text, digest=hashlib.sha256(text).hexdigest())
    rows = [*past.rows[:index], forged, *past.rows[index + 1 :]]
    last = past.rows[-1].seq
    assert named(after(past, path, rows)) == min(row.seq + 1, last)


@EXAMPLES
@given(past=PASTS, data=st.data())
def test_a_deleted_record_is_named(past: Past, path: Path, data: st.DataObject) -> None:
    rows = past.rows
    index = data.draw(st.integers(0, len(rows) - 1))
    gone = rows[index].seq
    # The oldest may leave where a checkpoint lets it go.
    assume(index > 0 or gone > past.removed_to)
    left = [*rows[:index], *rows[index + 1 :]]
    assert named(after(past, path, left)) == (gone if index else unaccounted(left))


@EXAMPLES
@given(past=PASTS, data=st.data())
def test_swapped_records_name_the_first_of_them(
    past: Past, path: Path, data: st.DataObject
) -> None:
    rows = list(past.rows)
    places = st.lists(st.integers(0, len(rows) - 1), min_size=2, max_size=2, unique=True)
    one, other = sorted(data.draw(places))
    first, second = rows[one], rows[other]
    rows[one] = msgspec.structs.replace(second, seq=first.seq)
    rows[other] = msgspec.structs.replace(first, seq=second.seq)
    assert named(after(past, path, rows)) == first.seq


@EXAMPLES
@given(past=PASTS, data=st.data(), forged=st.booleans())
def test_an_inserted_or_doubled_record_names_itself_or_the_next(
    past: Past, path: Path, data: st.DataObject, forged: bool
) -> None:
    rows = past.rows
    index = data.draw(st.integers(1, len(rows)))
    before = rows[index - 1]
    added = msgspec.structs.replace(before, seq=before.seq + 1)
    if forged:
        added = resealed(added, prev=before.hash)
    later = [msgspec.structs.replace(row, seq=row.seq + 1) for row in rows[index:]]
    verification = after(past, path, [*rows[:index], added, *later])
    if forged and not later:
        # Nothing but the head file knows which record is the newest.
        assert verification.unheaded == 1
    else:
        assert named(verification) == added.seq + forged


@EXAMPLES
@given(past=PASTS, data=st.data())
def test_a_cut_tail_names_the_first_record_of_it(
    past: Past, path: Path, data: st.DataObject
) -> None:
    kept = data.draw(st.integers(1, len(past.rows) - 1))
    assert named(after(past, path, past.rows[:kept])) == past.rows[kept].seq


@EXAMPLES
@given(past=PASTS, data=st.data())
def test_records_removed_beyond_a_checkpoint_are_named(
    past: Past, path: Path, data: st.DataObject
) -> None:
    kept = data.draw(st.integers(1, len(past.rows) - 1))
    gone, rows = past.rows[kept - 1].seq, past.rows[kept:]
    assume(gone > past.removed_to)
    assert named(after(past, path, rows)) == unaccounted(rows)


@EXAMPLES
@given(past=PASTS, data=st.data())
def test_a_forged_checkpoint_at_the_end_lets_nothing_go(
    past: Past, path: Path, data: st.DataObject
) -> None:
    kept = data.draw(st.integers(1, len(past.rows) - 1))
    last, rows = past.rows[kept - 1], past.rows[kept:]
    assume(last.seq > past.removed_to)
    claim = CheckpointData(
        removed_to=last.seq, hash=last.hash, count=kept, since=1, until=last.at, why="mine"
    )
    chain = Chain("core-a", past.chain.head, lambda whole: whole)
    _, forged = chain.seal(Draft(kind=CHECKPOINT, at=last.at, data=claim))
    assert named(after(past, path, [*rows, forged])) == unaccounted(rows)


def test_the_purge_of_one_session_covers_no_other_and_nothing_later(path: Path) -> None:
    past = Past()
    for session in "aab":
        past.note(session)
    past.purge("a")
    past.note("a")

    def without_data(seq: int) -> list[JournalRow]:
        return [
            msgspec.structs.replace(row, data=None) if row.seq == seq else row for row in past.rows
        ]

    assert verify_journal(past.written(path)).purged == 2
    for seq in (3, 5):
        problem = after(past, path, without_data(seq)).problem
        assert problem is not None
        assert problem.message == (
            f"record {seq} has lost its data, and no record says that they were purged"
        )


def test_a_session_whose_id_looks_like_a_secret_can_be_purged(path: Path) -> None:
    past = Past()
    past.chain = Chain("core-a", past.chain.head, lambda data: journal_json(data, "full"))
    session = "AKIAIOSFODNN7EXAMPLE"
    past.note(session)
    past.purge(session)
    assert session.encode() not in (past.rows[-1].data or b"")
    assert verify_journal(past.written(path)).problem is None


def test_what_a_removal_that_was_cut_short_left_is_sound_until_it_is_gone(path: Path) -> None:
    for gone in range(5):
        past = Past()
        for _ in range(6):
            past.note("a")
        past.let_go(4, gone)
        verification = verify_journal(past.written(path))
        assert (verification.problem, verification.start.seq) == (None, gone)


def anchors(past: Past) -> list[Head]:
    return [Head(row.seq, row.hash) for row in past.rows]


def rewritten(past: Past, seq: int) -> list[JournalRow]:
    """The rows with one that is another and all after it sealed anew."""
    rows: list[JournalRow] = []
    for row in past.rows:
        if row.seq < seq:
            rows.append(row)
        else:
            core = "core-b" if row.seq == seq else row.core
            rows.append(resealed(row, core=core, prev=rows[-1].hash if rows else ""))
    return rows


@pytest.fixture
def past() -> Past:
    return made([])


def test_an_anchor_finds_a_history_that_was_written_anew_with_its_head_file(
    past: Past, path: Path
) -> None:
    known = anchors(past)
    past.rows = rewritten(past, 4)
    past.written(path)
    assert verify_journal(path).problem is None
    assert verify_journal(path, anchors=known[:3]).problem is None
    verification = verify_journal(path, anchors=[*reversed(known)])
    assert verification.problem is not None
    assert verification.problem.message == (
        "record 4 has another hash than its anchor says: it, or what stands before it, "
        "was written anew"
    )
    assert (verification.count, verification.head) == (3, known[2])


def test_an_anchor_finds_a_tail_that_was_cut_with_its_head_file(past: Past, path: Path) -> None:
    known = anchors(past)
    past.rows = past.rows[:5]
    verification = verify_journal(past.written(path), anchors=known[-1:])
    assert verification.problem is not None
    assert verification.problem.message == (
        "record 7 is missing: an anchor names it, the last one is record 5"
    )
    assert (named(verification), verification.count) == (6, 5)


def test_an_anchor_of_a_record_that_was_removed_is_said_to_be_too_old(
    past: Past, path: Path
) -> None:
    known = anchors(past)
    past.let_go(4, 4)
    verification = verify_journal(past.written(path), anchors=known)
    assert (verification.problem, verification.older) == (None, tuple(known[:3]))
    wrong = Head(4, "0" * 64)
    assert named(verify_journal(path, anchors=[wrong])) == 4, "the first kept record names this one"


def test_a_journal_without_its_head_file_is_a_problem(past: Past, path: Path) -> None:
    head_path(past.written(path)).unlink()
    assert named(verify_journal(path)) == 8


def test_text_that_is_no_utf_8_is_named_by_its_record(past: Past, path: Path) -> None:
    with closing(sqlite3.connect(past.written(path))) as connection, connection:
        connection.execute("UPDATE record SET session = CAST(x'ff' AS TEXT) WHERE seq = 3")
    assert named(verify_journal(path)) == 3


def test_an_empty_journal_is_sound(path: Path) -> None:
    verification = verify_journal(Past().written(path))
    assert (verification.count, verification.problem) == (0, None)


def test_progress_is_told_now_and_then(
    past: Past, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("watchgate.core.chain.chain_walk.PROGRESS_ROWS", 3)
    told: list[int] = []
    verify_journal(past.written(path), progress=told.append)
    assert told == [3, 6]


def test_records_that_leave_just_before_they_are_read_are_no_fault(
    past: Past, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    past.written(path)
    read = journal_reader.rows

    def rows(*given: Any) -> Iterator[JournalRow]:
        past.let_go(3, 3)
        past.written(path)
        yield from read(*given)

    monkeypatch.setattr(journal_reader, "rows", rows)
    verification = verify_journal(path)
    assert (verification.start.seq, verification.unheaded, verification.problem) == (3, 0, None)


def test_a_page_that_is_damaged_is_named_by_its_first_record(path: Path) -> None:
    past = Past()
    for _ in range(200):
        past.note("x" * 100)
    past.written(path)
    content = bytearray(path.read_bytes())
    content[4_096 * 10 : 4_096 * 11] = b"\xaa" * 4_096
    path.write_bytes(content)
    verification = verify_journal(path)
    assert verification.problem is not None
    assert verification.problem.message.startswith(
        f"record {verification.problem.seq} cannot be read: "
    )
    assert "is damaged" in verification.problem.message
    assert verification.count == verification.head.seq == verification.problem.seq - 1 > 10

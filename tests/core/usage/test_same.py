"""Which records tell of the same call, which of them is counted and whose it is."""

from __future__ import annotations

from itertools import permutations

from tests.core.usage.calls import call
from watchgate.core.usage.ledger_entries import CallRecord, DedupedCall, same_calls
from watchgate.core.usage.usage_calls import UsageCall


def found(*calls: UsageCall) -> list[DedupedCall]:
    """What is counted of them, each from a file of its own; the same in any order."""
    told = [CallRecord(f"file{n}", one, one.is_lower_bound) for n, one in enumerate(calls)]
    results = [sorted(same_calls(order), key=repr) for order in permutations(told)]
    assert all(result == results[0] for result in results)
    return results[0]


def test_records_of_one_request_are_one_call_with_the_largest_output() -> None:
    grown = call(output=300, at=3)
    (same,) = found(call(output=1), grown, call(output=40, at=2))
    assert same.call == grown


def test_a_call_belongs_to_the_session_that_had_it_first() -> None:
    first = call(session="parent", at=1)
    (same,) = found(call(session="fork", at=9, output=50), first)
    assert (same.owner, same.file) == (first, "file1")
    assert same.call.output == 50


def test_of_copies_with_the_same_time_the_first_file_by_name_has_it() -> None:
    (same,) = found(call(session="b"), call(session="a"))
    assert (same.owner.session, same.file) == ("b", "file0")


def test_of_copies_with_the_same_time_the_parent_has_it_and_then_the_first_thread_by_name() -> None:
    fork, own = call(session="a"), call(session="b")
    told = [CallRecord("f0", fork, False, "a", "b"), CallRecord("f1", own, False, "b")]
    assert [same.owner for same in same_calls(told)] == [own]
    told = [
        CallRecord("f0", own, False, "b", "c", True),
        CallRecord("f1", fork, False, "a", "c", True),
    ]
    assert [same.owner for same in same_calls(told)] == [fork]


def test_of_copies_that_tell_the_same_one_that_names_the_model_is_counted() -> None:
    nameless, named = call(session="parent", model=""), call(session="fork", at=9)
    (same,) = found(nameless, named)
    assert (same.call, same.owner) == (named, nameless)


def test_another_request_is_another_call() -> None:
    assert len(found(call(request="r1"), call(request="r2"))) == 2


def test_without_a_request_the_session_tells_calls_apart() -> None:
    assert len(found(call(request=""), call(request="", at=2))) == 1
    assert len(found(call(request=""), call(request="", session="other"))) == 2
    assert len(found(call(request=""), call(request="r2", at=2))) == 1
    assert len(found(call(request=""), call(request="r2", session="other"))) == 2


def test_a_copy_in_a_sub_agents_file_is_no_call_of_its_own_however_large() -> None:
    own = call(request="r1", at=5)
    (same,) = found(own, call(request="r2", side=True, cache_read=50_000, output=90))
    assert (same.call, same.owner) == (own, own)


def test_a_sub_agents_copy_joins_no_two_calls_that_are_different_without_it() -> None:
    assert len(found(call(request="r1"), call(request="r2"), call(request="r3", side=True))) == 2


def test_copies_in_sub_agents_files_alone_are_one_call() -> None:
    (same,) = found(
        call(request="r1", side=True, sub="x"), call(request="r2", side=True, sub="y", output=8)
    )
    assert (same.call.output, same.owner.sub) == (8, "x")


def test_what_one_record_tells_to_its_end_is_no_lower_bound() -> None:
    assert found(call(is_lower_bound=True), call(output=9))[0].is_lower_bound is False
    assert (
        found(call(is_lower_bound=True), call(output=9, is_lower_bound=True))[0].is_lower_bound
        is True
    )
    assert found(call(is_lower_bound=True), call(side=True, output=9))[0].is_lower_bound is True


def test_thousands_of_requests_under_one_id_are_told_apart_at_once() -> None:
    records = [CallRecord("f", call(request=str(n), at=n), False) for n in range(5000)]
    assert len(same_calls(records)) == 5000

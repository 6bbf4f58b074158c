"""Whatever order files and their parts come in, and whatever is forgotten: the same ledger."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.core.usage.calls import ledger
from watchgate.core.usage.ledger import Ledger
from watchgate.core.usage.usage_calls import CountedCall, Figures, UsageCall

SESSIONS = st.sampled_from(["s", "t", "u"])

calls = st.builds(
    UsageCall,
    id=st.sampled_from(["1", "2", "3", "4"]),
    at_us=st.integers(0, 5).map(lambda n: n * 40_000_000_000),
    session=SESSIONS,
    model=st.sampled_from(["small", "large", "nova"]),
    input=st.integers(0, 2000),
    output=st.integers(0, 3),
    cache_1h=st.integers(0, 9),
    web_searches=st.integers(0, 1),
    request=st.sampled_from(["", "p", "q"]),
    side=st.booleans(),
    sub=st.sampled_from(["", "x"]),
    reported=st.none() | st.integers(0, 9),
    is_lower_bound=st.booleans(),
)


class Put(msgspec.Struct, frozen=True):
    """Some calls of a file."""

    file: str
    calls: list[UsageCall]


threads = st.dictionaries(st.sampled_from("abcde"), st.sampled_from(["", *"abcdef"]), min_size=1)
puts = st.builds(Put, st.sampled_from("abcde"), st.lists(calls, max_size=5))


def apply(book: Ledger, put: Put, parents: dict[str, str]) -> None:
    """Takes in some calls; the files of `parents` are those of threads."""
    family: dict[str, Any] = {}
    if put.file in parents:
        family = {"thread": put.file, "parent": parents[put.file]}
    book.put(put.file, "agent", put.calls, **family)


def seen(book: Ledger) -> tuple[object, list[str]]:
    """All that a ledger answers."""
    return book.rows(), sorted(map(repr, book.calls()))


def summed(counted: list[CountedCall]) -> dict[tuple[str, ...], Figures]:
    """The rows that these calls make, added up from nothing."""
    sums: dict[tuple[str, ...], Figures] = defaultdict(Figures)
    for one in counted:
        row = one.agent, one.session, one.sub, str(one.day), one.call.model
        names = ("input", "output", "cache_read", "cache_5m", "cache_1h", "reasoning")
        sums[row] = sums[row].plus(
            Figures(
                calls=1,
                web_searches=one.call.web_searches,
                reported=one.call.reported or 0,
                unreported=one.call.reported is None,
                computed=one.computed or 0,
                unpriced=one.computed is None,
                lower_bounds=one.is_lower_bound,
                **{name: getattr(one.call, name) for name in names},
            )
        )
    return sums


@given(data=st.data(), told=st.lists(puts, max_size=8), parents=threads)
def test_files_may_come_in_any_order(
    data: st.DataObject, told: list[Put], parents: dict[str, str]
) -> None:
    straight = ledger()
    for put in sorted(told, key=lambda put: put.file):
        apply(straight, put, parents)
    mixed = ledger()
    # The parts of one file stay in order; whose turn it is does not matter.
    by_file: dict[str, list[Put]] = defaultdict(list)
    for put in told:
        by_file[put.file].append(put)
    for file in data.draw(st.permutations([put.file for put in told])):
        apply(mixed, by_file[file].pop(0), parents)
    assert seen(mixed) == seen(straight)


@given(told=st.lists(puts, max_size=8), parents=threads, again=st.lists(st.sampled_from("abcde")))
def test_a_file_that_was_forgotten_and_read_anew_changes_nothing(
    told: list[Put], parents: dict[str, str], again: list[str]
) -> None:
    straight, book = ledger(), ledger()
    for put in told:
        apply(straight, put, parents)
        apply(book, put, parents)
    for file in again:
        book.forget(file)
        for put in told:
            if put.file == file:
                apply(book, put, parents)
    assert seen(book) == seen(straight)
    book.repriced()
    assert seen(book) == seen(straight)


@given(told=st.lists(puts, max_size=8), parents=threads, gone=st.sets(st.sampled_from("abcde")))
def test_what_was_forgotten_leaves_nothing_behind(
    told: list[Put], parents: dict[str, str], gone: set[str]
) -> None:
    book, without = ledger(), ledger()
    for put in told:
        apply(book, put, parents)
        if put.file not in gone:
            apply(without, put, parents)
    for file in gone:
        book.forget(file)
    assert seen(book) == seen(without)


@given(told=st.lists(puts, max_size=8), parents=threads, gone=st.sets(st.sampled_from("abcde")))
def test_the_rows_are_the_sums_of_the_calls(
    told: list[Put], parents: dict[str, str], gone: set[str]
) -> None:
    book = ledger()
    for put in told:
        apply(book, put, parents)
    for file in gone:
        book.forget(file)
    counted = list(book.calls())
    rows = {
        (row.agent, row.session, row.sub, str(row.day), row.model): row.figures
        for row in book.rows()
    }
    assert rows == summed(counted)
    for key in {one.key for one in counted}:
        assert sorted(map(repr, book.calls(key))) == sorted(
            repr(one) for one in counted if one.key == key
        )

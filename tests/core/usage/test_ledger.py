"""The sums of a ledger: each call once, taken back exactly, and priced one by one."""

from __future__ import annotations

import msgspec

from tests.core.usage.calls import CHEAP, DAY_US, DEAR, TARIFFS, call, day_of, ledger
from watchgate.core.usage.ledger import Ledger
from watchgate.core.usage.pricing import Rates, Tariff
from watchgate.core.usage.usage_calls import Figures, UsageCall
from watchgate.core.usage.usage_summary import total_figures


def figures(book: Ledger, session: str = "s") -> Figures:
    """What a session adds up to."""
    return total_figures(book.rows(("claude", session)))


def test_rows_are_by_sub_agent_day_and_model() -> None:
    book = ledger()
    late = DAY_US // 1_000_000
    book.put("f", "claude", [call("a"), call("b"), call("c", at=late), call("d", sub="x")])
    book.put("g", "claude", [call("e", session="t", model="large")])
    assert [(row.session, row.sub, row.day, row.model) for row in book.rows()] == [
        ("s", "", 0, "small"),
        ("s", "", 1, "small"),
        ("s", "x", 0, "small"),
        ("t", "", 0, "large"),
    ]
    assert [row.figures.calls for row in book.rows(("claude", "s"))] == [2, 1, 1]
    assert book.rows(("codex", "s")) == []


def test_each_call_is_priced_by_its_own_tier_not_by_the_sum() -> None:
    book = ledger()
    book.put("f", "claude", [call("a", input=900), call("b", input=900), call("c", input=1001)])
    below = 900 * CHEAP.input + 2 * CHEAP.output
    assert figures(book).computed == 2 * below + 1001 * DEAR.input + 2 * DEAR.output


def test_all_kinds_of_tokens_are_added_and_priced_apart() -> None:
    book = ledger()
    one = call(model="large", output=4, cache_read=5, cache_5m=6, cache_1h=7, reasoning=3)
    book.put("f", "claude", [msgspec.structs.replace(one, web_searches=2)])
    found = figures(book)
    assert found.computed == 10 * 200 + 4 * 1000 + 5 * 20 + 6 * 250 + 7 * 400 + 2 * 7
    assert (found.input, found.output, found.cache_read, found.reasoning) == (10, 4, 5, 3)
    assert (found.cache_5m, found.cache_1h, found.cache_write, found.tokens) == (6, 7, 13, 32)
    assert (found.calls, found.web_searches, found.unreported, found.lower_bounds) == (1, 2, 1, 0)


def test_a_model_without_a_price_is_unpriced_and_not_free() -> None:
    book = ledger()
    book.put("f", "claude", [call("a", model="nova"), call("b")])
    found = figures(book)
    assert (found.unpriced, found.computed) == (1, 10 * 100 + 2 * 500)


def test_what_used_nothing_needs_no_price() -> None:
    book = ledger()
    book.put("f", "claude", [call("a", model="<none>", input=0, output=0)])
    assert (figures(book).calls, figures(book).unpriced) == (1, 0)


def test_cache_writes_that_nobody_counted_and_that_cost_more_make_a_lower_bound() -> None:
    flat = Tariff(((0, Rates(input=5, output=9, cache_read=1, cache_5m=5, cache_1h=5)),))
    book = Ledger(lambda told: {**TARIFFS, "flat": flat}.get(told.model), day_of)
    told = [
        call("a", writes_in_input=True),
        call("b"),
        call("c", model="flat", writes_in_input=True),
    ]
    book.put("f", "claude", [*told, call("d", input=0, writes_in_input=True)])
    assert {row.model: row.figures.lower_bounds for row in book.rows()} == {"small": 1, "flat": 0}


def test_web_searches_that_no_table_has_a_price_for_make_a_lower_bound() -> None:
    book = ledger()
    book.put("f", "claude", [call("a", web_searches=1), call("b", model="large", web_searches=1)])
    assert figures(book).lower_bounds == 1


def test_the_agents_own_cost_is_kept_beside_the_computed_one() -> None:
    book = ledger()
    book.put("f", "claude", [call("a", reported=5), call("b", reported=0), call("c")])
    found = figures(book)
    assert (found.reported, found.unreported) == (5, 1)
    assert found.computed == 3 * (10 * 100 + 2 * 500)


def test_a_call_that_is_told_anew_takes_the_place_of_the_one_before() -> None:
    book = ledger()
    book.put("f", "claude", [call(output=1)])
    book.put("f", "claude", [call(output=70), call(output=30)])
    assert (figures(book).calls, figures(book).output) == (1, 30)


def test_what_a_file_tells_no_longer_is_gone() -> None:
    book = ledger()
    book.put("f", "claude", [call("a"), call("b", request="r1"), call("b", request="r2")])
    gone = [("a", "r", False), ("b", "r2", False), ("never", "", False), ("b", "r9", True)]
    book.put("f", "claude", [], gone=gone)
    assert [one.call.request for one in book.calls()] == ["r1"]
    assert figures(book).calls == 1


def test_a_copy_changes_hands_when_its_file_is_gone() -> None:
    book = ledger()
    book.put("f", "claude", [call(session="parent")])
    book.put("g", "claude", [call(session="fork", at=9)])
    assert book.changed() == {("claude", "parent")}
    assert [row.session for row in book.rows()] == ["parent"]
    book.forget("f")
    assert [row.session for row in book.rows()] == ["fork"]
    assert book.changed() == {("claude", "parent"), ("claude", "fork")}
    book.forget("g")
    book.forget("never")
    assert (book.rows(), list(book.calls())) == ([], [])


def test_agents_do_not_share_ids() -> None:
    book = ledger()
    book.put("f", "claude", [call()])
    book.put("g", "qwen", [call()])
    assert len(list(book.calls())) == 2


def test_only_sessions_that_something_was_told_of_have_changed() -> None:
    book = ledger()
    book.put("f", "claude", [call(), call("b", session="t")])
    assert book.changed() == {("claude", "s"), ("claude", "t")}
    book.put("f", "claude", [call("c", session="t")])
    assert book.changed() == {("claude", "t")}
    assert book.changed() == set()


def test_the_calls_of_a_session_are_had_from_every_file_that_tells_of_them() -> None:
    book = ledger()
    book.put("f", "claude", [call("a"), call("x", session="t")])
    book.put("f/sub", "claude", [call("b", sub="1", side=True), call("a", side=True, sub="1")])
    assert sorted(one.call.id for one in book.calls(("claude", "s"))) == ["a", "b"]
    assert {one.sub for one in book.calls(("claude", "s"))} == {"", "1"}
    assert list(book.calls(("claude", "nobody"))) == []


def test_new_prices_price_every_call_anew() -> None:
    tariffs = dict(TARIFFS)
    book = Ledger(lambda one: tariffs.get(one.model), day_of)
    book.put("f", "claude", [call("a"), call("b", model="nova")])
    book.put("g", "claude", [call("a", at=2, session="t")])
    book.changed()
    tariffs["nova"] = Tariff(((0, Rates(1, 1, 1, 1, 1)),))
    book.repriced()
    assert (figures(book).unpriced, figures(book).computed) == (0, 2000 + 12)
    assert book.changed() == {("claude", "s")}
    book.forget("f")
    assert figures(book, "t").calls == 1


def counted(book: Ledger) -> list[tuple[str, str, bool]]:
    """The calls of threads: id, session and whether it is a lower bound."""
    return sorted((one.call.id, one.session, one.is_lower_bound) for one in book.calls())


def thread(name: str, at: int, *ids: str) -> list[UsageCall]:
    """The calls that the file of a thread tells of."""
    return [call(one, session=name, at=at) for one in ids]


def test_a_forks_copies_are_counted_for_its_parent() -> None:
    book = ledger()
    book.put("child", "codex", thread("b", 9, "1", "2", "3"), thread="b", parent="a")
    book.put("other", "codex", thread("c", 9, "1"), thread="c")
    book.put("parent", "codex", thread("a", 1, "1", "2"), thread="a")
    assert counted(book) == [
        ("1", "a", False),
        ("1", "c", False),
        ("2", "a", False),
        ("3", "b", False),
    ]


def test_forks_of_a_thread_without_a_file_count_what_they_copied_once_as_a_lower_bound() -> None:
    book = ledger()
    book.put("child1", "codex", thread("b", 2, "1", "2"), thread="b", parent="a")
    book.put("child2", "codex", thread("c", 3, "1", "3"), thread="c", parent="a")
    assert counted(book) == [("1", "b", True), ("2", "b", True), ("3", "c", True)]


def test_children_that_count_alike_after_what_they_copied_are_told_apart() -> None:
    book = ledger()
    book.put("child1", "codex", thread("b", 2, "1", "2"), thread="b", parent="a")
    book.put("child2", "codex", thread("c", 3, "1", "2"), thread="c", parent="a")
    book.put("grandchild", "codex", thread("d", 4, "1", "2", "3"), thread="d", parent="c")
    book.put("parent", "codex", thread("a", 1, "1"), thread="a")
    told = [("1", "a", False), ("2", "b", False), ("2", "c", False), ("3", "d", False)]
    assert counted(book) == told
    book.forget("parent")
    assert [one[:2] for one in counted(book)] == [("1", "b"), ("2", "b"), ("3", "d")]
    book.put("parent", "codex", thread("a", 1, "1"), thread="a")
    assert counted(book) == told


def test_a_file_that_turns_out_to_be_of_another_thread_is_counted_as_that_one() -> None:
    book = ledger()
    book.put("parent", "codex", thread("a", 1, "1"), thread="a")
    book.put("child1", "codex", thread("b", 2, "2"), thread="b", parent="a")
    book.put("child2", "codex", thread("c", 3, "2"), thread="b", parent="a")
    assert counted(book) == [("1", "a", False), ("2", "b", False)]
    book.put("child2", "codex", [], thread="c", parent="a")
    assert counted(book) == [("1", "a", False), ("2", "b", False), ("2", "c", False)]


def test_threads_that_are_each_others_parents_end_the_search() -> None:
    book = ledger()
    book.put("one", "codex", thread("a", 1, "1"), thread="a", parent="b")
    book.put("two", "codex", thread("b", 2, "1"), thread="b", parent="a")
    book.put("own", "codex", thread("c", 3, "1"), thread="c", parent="c")
    assert counted(book) == [("1", "a", False), ("1", "c", False)]


def test_a_session_has_its_calls_out_of_a_file_of_many_sessions_whatever_changes() -> None:
    many = ledger()
    many.put("file", "code", [call(f"c{n}", session=f"s{n % 3}") for n in range(9)])
    assert {each.call.id for each in many.calls(("code", "s1"))} == {"c1", "c4", "c7"}
    many.put("file", "code", [call("c9", session="s1")], gone=[("c4", "r", False)])
    assert {each.call.id for each in many.calls(("code", "s1"))} == {"c1", "c7", "c9"}
    many.repriced()
    assert {each.call.id for each in many.calls(("code", "s2"))} == {"c2", "c5", "c8"}
    many.forget("file")
    assert not list(many.calls(("code", "s1")))

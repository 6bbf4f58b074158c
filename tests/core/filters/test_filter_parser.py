"""The filter language: what each form means, and errors that point at the fault."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.filters.filter_keys import KEYS, KINDS, TEXT
from watchgate.core.filters.filter_parser import MAX_FILTER_CHARS, Filter, FilterError, Term, parse
from watchgate.core.state.state import _FOLDS

NOW_US = 1_795_176_288_000_000
"""Fri 20 Nov 2026, 12:04:48 UTC."""

ROW = {
    "agent": "codex",
    "tool": "Bash",
    "kind": "hook.trace",
    "risk": "high",
    "state": "denied",
    "session": "abc123",
    "text": "git push --force origin",
}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "agent:codex",
        "AGENT:Codex",
        "agent:codex risk:high state:denied",
        "kind:hook.*",
        "session:abc*",
        "agent:*",
        "-agent:claude",
        "-lane:gate",
        "push",
        "PUSH origin",
        "pus",
        "push*",
        "force",
        "*ush",
        '"git push"',
        '"git pus"',
        '*"it pus"',
        'tool:"bash"',
        '-"rm -rf"',
        "--force",
    ],
)
def test_it_matches(text: str) -> None:
    assert parse(text).matches(ROW)


@pytest.mark.parametrize(
    "text",
    [
        "agent:claude",
        "agent:code",
        "kind:tool.*",
        "-agent:codex",
        "agent:codex risk:low",
        "lane:gate",
        "lane:*",
        "pull",
        "ush",
        "orce",
        "-*ush",
        '"it push"',
        '"push git"',
        "-push",
        '"codex"',
    ],
)
def test_it_does_not_match(text: str) -> None:
    assert not parse(text).matches(ROW)


def test_escapes_in_quotes() -> None:
    assert parse(r'"a \"b\" \\c"').terms == (Term(TEXT, r'a "b" \c'),)


@pytest.mark.parametrize(
    ("text", "position", "part"),
    [
        ("agent:codex tol:Bash", 12, "did you mean tool?"),
        ("zzz:1", 0, "allowed: agent, session, host, tool"),
        ("risk:", 5, "value is missing"),
        ("a -", 3, "value is missing"),
        ('x "open', 2, "never closed"),
        ('"a"b', 0, "glued"),
        ("a *", 3, "value is missing"),
        ("https://example.org", 0, "quote a text that holds a colon"),
    ],
)
def test_an_error_points_at_the_fault(text: str, position: int, part: str) -> None:
    with pytest.raises(FilterError, match=part) as caught:
        parse(text)
    assert caught.value.position == position
    assert f"(at character {position + 1})" in str(caught.value)


def test_risks_are_compared_in_their_order_and_unknown_counts_as_high() -> None:
    order = ("low", "medium", "high", "critical")
    for text, kept in {
        "risk>=high": ("high", "critical", "unknown"),
        "risk>medium": ("high", "critical", "unknown"),
        "risk<high": ("low", "medium"),
        "risk<=LOW": ("low",),
        "risk>=unknown": ("high", "critical", "unknown"),
        "-risk>=high": ("low", "medium"),
    }.items():
        found = [risk for risk in (*order, "unknown") if parse(text).matches({"risk": risk})]
        assert sorted(found) == sorted(kept), text


def test_a_comparison_with_what_is_missing_does_not_hold_and_turned_round_it_does() -> None:
    for text in ("risk>=low", "risk<=critical", "took<1h", "since:1d", "until:today", "by:*"):
        assert not parse(text, now_us=NOW_US).matches({}), text
        assert parse("-" + text, now_us=NOW_US).matches({}), text


@pytest.mark.parametrize(
    ("text", "took_ms"),
    [("took>5s", 5_001), ("took>=200ms", 200), ("took<1.5m", 89_999), ("TOOK<=1H", 3_600_000)],
)
def test_how_long_it_took_is_compared_with_its_unit(text: str, took_ms: int) -> None:
    assert parse(text).matches({"took": took_ms})
    assert not parse("-" + text).matches({"took": took_ms})


def test_times_are_read_once_at_the_moment_given() -> None:
    wanted = parse("since:2h until:10m", now_us=NOW_US, zone=UTC)
    hour_us = 3_600_000_000
    assert wanted.matches({"at": NOW_US - hour_us})
    assert wanted.matches({"at": NOW_US - 2 * hour_us})
    assert not wanted.matches({"at": NOW_US - 2 * hour_us - 1})
    assert not wanted.matches({"at": NOW_US})
    assert wanted.since_us == NOW_US - 2 * hour_us
    assert parse("-since:2h", now_us=NOW_US).since_us is None


@pytest.mark.parametrize(
    "text", ["session:api-fix", "session:7f3a", "session:api*", "-session:web"]
)
def test_a_field_may_go_by_several_names(text: str) -> None:
    assert parse(text).matches({"session": ("api-fix", "7f3a")})


@pytest.mark.parametrize("text", ['state:"timed out"', "state:timed-out", "state:TIMED*"])
def test_blanks_in_a_state_may_be_hyphens(text: str) -> None:
    assert parse(text).matches({"state": "timed out"})


@pytest.mark.parametrize("text", ["request:a41f", "call:toolu"])
def test_ids_may_be_shortened(text: str) -> None:
    assert parse(text).matches({"request": "a41fkk", "call": "toolu_01"})


def test_a_test_over_getters_reads_only_what_it_needs() -> None:
    def itself(thing: str) -> str:
        return thing

    def never(_thing: str) -> str:
        raise AssertionError("not needed")

    keep = parse("tool:bash -rule:x").over({"tool": itself, "text": never})
    assert keep
    assert keep("Bash")
    assert not keep("Read")
    assert parse(" ").over({"text": never}) is None


@pytest.mark.parametrize(
    ("text", "wrong", "part"),
    [
        ("a agent>=x", "agent>=", "only risk, took, waited can be compared; write agent:codex"),
        ("risk:hgih", "hgih", "did you mean high? allowed: low, medium, high"),
        ("risk>=high*", "*", "takes no star"),
        ("lane:front", "front", "allowed: gate, gate-read, relay, observe"),
        ("state:deny", "deny", "did you mean denied?"),
        ("kind:tol.pre a", "tol.pre", "did you mean tool.pre?"),
        ("kind:tol*", "tol*", "unknown kind tol"),
        ("rsk>=high", "rsk", "quote a text that holds a >="),
        ("until:9999-13-31", "9999-13-31", "no such time"),
        ("took>5", "5", "a unit is missing: 5ms, 5s, 5m or 5h"),
        ("took>fast", "fast", "200ms, 5s, 2m or 1h"),
        ("took:5s", "took:", "write took>5s"),
        ("agent=codex", "agent=", "write agent:codex"),
        ("since:soon b", "soon", "it takes 30m, 2h, 7d"),
        ("until:2026-02-31", "2026-02-31", "there is no such time"),
        ('x "open one', '"open one', "never closed"),
        ('tool:"open', '"open', "never closed"),
        ('a"b"c d', 'a"b"c', "glued"),
    ],
)
def test_a_fault_has_a_beginning_and_an_end(text: str, wrong: str, part: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text, now_us=NOW_US)
    fault = caught.value
    assert text[fault.position : fault.end] == wrong
    assert part in fault.message


@pytest.mark.parametrize(
    "text", ["since:12:04", "until:12:04", "since:7d", "-until:yesterday", "risk>=low"]
)
def test_pinned_times_mean_the_same_to_a_core_in_another_zone(text: str) -> None:
    wanted = parse(text, now_us=NOW_US, zone=timezone(timedelta(hours=2)))
    there = parse(str(wanted.pinned()), now_us=NOW_US + 90_000_000_000, zone=UTC)
    assert [t.limit for t in there.terms] == [t.limit for t in wanted.terms]


def test_a_time_without_a_clock_is_refused() -> None:
    with pytest.raises(FilterError, match="needs a clock"):
        parse("since:1h")


def test_assignments_of_a_shell_are_texts() -> None:
    assert parse("CI=1").matches({"text": "CI=1 make"})


def test_every_kind_that_the_picture_folds_is_allowed() -> None:
    assert set(_FOLDS) <= set(KINDS)


def _plain_terms() -> st.SearchStrategy[Term]:
    free = sorted(k for k, key in KEYS.items() if not (key.values or key.ordered or key.timed))
    one_of = [
        st.builds(Term, st.just(name), st.sampled_from(key.values), negated=st.booleans())
        for name, key in KEYS.items()
        if key.values
    ]
    return st.one_of(
        st.builds(
            Term, st.sampled_from(free), st.text(), prefix=st.booleans(), negated=st.booleans()
        ),
        st.builds(Term, st.just(TEXT), st.text(), negated=st.booleans(), anywhere=st.booleans()),
        *one_of,
    )


@given(st.lists(_plain_terms()).map(tuple).map(Filter))
def test_every_filter_can_be_written_and_read_again(made: Filter) -> None:
    assert parse(str(made)) == made


PIECES = st.sampled_from(
    [
        *(
            f"{name}{op}"
            for name in (*KEYS, "text", "zzz")
            for op in (":", ">", ">=", "<", "=", "")
        ),
        *("-", '"', "*", " ", "\\", "high", "tool.", "7d", "12:04", "99:99", "2026-11-20", "5ms"),
        *("0000-00-00", "9999-12-31", "999999999w", "0001-01-01T00:00", "denied", "today"),
    ]
)


@given(st.lists(PIECES | st.text(max_size=4)).map("".join), st.integers(0, 4_000_000_000_000_000))
def test_any_text_is_read_or_refused_with_a_span(text: str, now_us: int) -> None:
    fault: FilterError | None = None
    wanted = Filter()
    try:
        wanted = parse(text, now_us=now_us)
    except FilterError as caught:
        fault = caught
    assert parse(str(wanted), now_us=now_us) == wanted
    wanted.matches({"text": text, "risk": text, "at": now_us, "session": (text,)})
    if fault is not None:
        assert 0 <= fault.position <= len(text)
        assert fault.position < fault.end <= len(text) + 1


def test_a_filter_has_a_longest_length() -> None:
    """Whoever may ask a core for its records could keep it busy with reading what it is asked."""
    assert parse("x" * MAX_FILTER_CHARS).terms
    with pytest.raises(FilterError, match="4,000 characters") as fault:
        parse("x " * MAX_FILTER_CHARS)
    assert fault.value.position == MAX_FILTER_CHARS

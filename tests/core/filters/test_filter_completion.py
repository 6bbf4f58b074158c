"""What Tab proposes at the cursor of a filter."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.filters.filter_completion import (
    MAX_COMPLETIONS,
    KnownValues,
    known_in,
    may_complete,
    propose,
)
from watchgate.core.filters.filter_parser import FilterError, parse
from watchgate.core.model.records import Record
from watchgate.core.state.state import State

KNOWN = KnownValues(
    agents=("claude", "codex"),
    sessions=("api-fix", "two words"),
    tools=("Bash", "Read", "WebFetch"),
)


def _texts(text: str, at: int | None = None) -> tuple[str, ...]:
    return propose(text, len(text) if at is None else at, KNOWN).texts


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("to", ("tool:", "took>")),
        ("ri", ("risk:",)),
        ("-sta", ("state:",)),
        ("agent:", ("claude", "codex")),
        ("AGENT:CO", ("codex",)),
        ("tool:b", ("Bash", "WebFetch")),
        ("tool:fetch", ("WebFetch",)),
        ('session:"two', ('"two words"',)),
        ("session:tw", ('"two words"',)),
        ("risk>=", ("low", "medium", "high", "critical", "unknown")),
        ("state:tim", ("timed-out",)),
        ("kind:hook", ("hook.*", "hook.trace")),
        ("lane:gate", ("gate", "gate-read")),
        ("since:", ("1h", "24h", "7d", "today", "yesterday")),
        ("cod", ("agent:codex",)),
    ],
)
def test_what_begins_so_comes_first_then_what_holds_it(text: str, first: tuple[str, ...]) -> None:
    assert _texts(text)[: len(first)] == first


@pytest.mark.parametrize(
    ("text", "unfinished"),
    [
        ("ri", True),
        ("-ri", True),
        ("a risk", True),
        ("risky", False),
        ("risk:", True),
        ("a ", False),
        ("tool:Ba", True),
        ("tool:ba", True),
        ("-tool:Ba", True),
        ("tool:Bash", False),
        ("tool:bash", False),
        ("tool:Bax", False),
        ("tool:Ba text", False),
        ("colour:Ba", False),
    ],
)
def test_a_word_that_may_yet_become_a_key_or_a_value_is_known_as_such(
    text: str, unfinished: bool
) -> None:
    assert may_complete(text, len(text), KNOWN) is unfinished


@pytest.mark.parametrize("text", ["zzz:", "agent:zzz", '"to', "risk:high", "tool:Bash", "x"])
def test_where_nothing_is_known_nothing_is_proposed(text: str) -> None:
    assert _texts(text) == ()


def test_one_host_is_no_choice() -> None:
    assert "host:" not in _texts("")
    assert propose("host:", 5, KnownValues(hosts=("lab2",))).texts == ("lab2",)


def test_only_the_term_at_the_cursor_is_replaced() -> None:
    text = "tool:Bash agent:cl risk:high"
    found = propose(text, 18, KNOWN)
    assert found.put(text, 0) == ("tool:Bash agent:claude risk:high", 22)


@pytest.mark.parametrize(
    ("text", "at", "put"),
    [
        ('tool:"Ba risk:high', 8, "tool:Bash risk:high"),
        ('session:"tw risk:high -tool:Read', 11, 'session:"two words" risk:high -tool:Read'),
        ('session:"two words" x', 12, 'session:"two words" x'),
        (r'session:"tw\" o" x', 11, 'session:"two words" x'),
    ],
)
def test_terms_behind_a_quote_that_is_not_closed_yet_stay(text: str, at: int, put: str) -> None:
    assert propose(text, at, KNOWN).put(text, 0)[0] == put


def test_what_a_picture_knows_is_what_can_be_typed_the_newest_first() -> None:
    state = State()
    for number, (agent, tool) in enumerate(
        [("claude", "Bash"), ("codex", "Read\x1b[2J"), ("gemini", "Read"), ("claude", "Edit")]
    ):
        data = {"tool": {"name": tool}, "summary": "ls", "gate": "recorded", "lane": "gate"}
        state.apply(
            Record(
                v=1,
                seq=number + 1,
                core="c",
                at=number,
                kind="tool.pre",
                agent=agent,
                session=f"s{number}",
                call=f"c{number}",
                data={**data, "cwd": f"/src/app{number}"},
            )
        )
    known = known_in(state)
    assert known.agents == ("claude", "gemini", "codex")
    assert known.sessions == ("app3", "app2", "app1", "app0")
    assert known.tools == ("Edit", "Read", "Bash")


TEXTS = st.lists(
    st.sampled_from(
        ["agent:", "tool:", "risk>=", "-", '"', "\\", " ", "c", "two", "state:", "kind:"]
    )
    | st.text(max_size=3)
).map("".join)


@given(TEXTS, st.data())
def test_whatever_is_typed_proposals_fit_into_it(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    found = propose(text, at, KNOWN)
    assert 0 <= found.start <= found.end <= len(text)
    assert len(found.texts) <= MAX_COMPLETIONS
    for number in range(len(found.texts)):
        put, cursor = found.put(text, number)
        assert put[:cursor].endswith(found.texts[number])
        assert put[cursor:] == text[found.end :]


@given(st.sampled_from(["agent:", "tool:", "session:", "state:", "kind:", "lane:", "risk<", "by:"]))
def test_a_proposed_value_can_be_read(begun: str) -> None:
    found = propose(begun, len(begun), KNOWN)
    assert found.texts
    for number in range(len(found.texts)):
        parse(found.put(begun, number)[0])


@given(TEXTS)
def test_a_filter_that_reads_still_reads_with_its_last_value_completed(text: str) -> None:
    with contextlib.suppress(FilterError):
        parse(text)
        found = propose(text, len(text), KNOWN)
        for number in range(len(found.texts)):
            put, _ = found.put(text, number)
            if not put.endswith((":", ">")):
                parse(put, now_us=0)

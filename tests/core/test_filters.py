"""The filter language: what each form means, and errors that point at the fault."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.filters import KEYS, TEXT, Filter, FilterError, Term, parse

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
        '"git push"',
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
        ("zzz:1", 0, "allowed: agent, session, tool"),
        ("risk:", 5, "value is missing"),
        ("a -", 3, "value is missing"),
        ('x "open', 2, "never closed"),
        ('"a"b', 0, "glued"),
        ('"a"*', 3, "star needs a key"),
        ("https://example.org", 0, "quote a text that holds a colon"),
    ],
)
def test_an_error_points_at_the_fault(text: str, position: int, part: str) -> None:
    with pytest.raises(FilterError, match=part) as caught:
        parse(text)
    assert caught.value.position == position
    assert f"(at character {position + 1})" in str(caught.value)


TERMS = st.builds(
    Term, st.sampled_from(KEYS), st.text(), prefix=st.booleans(), negated=st.booleans()
) | st.builds(Term, st.just(TEXT), st.text(), negated=st.booleans())


@given(st.lists(TERMS).map(tuple).map(Filter))
def test_every_filter_can_be_written_and_read_again(made: Filter) -> None:
    assert parse(str(made)) == made


@given(st.text())
def test_any_text_is_read_or_refused_with_a_position(text: str) -> None:
    with contextlib.suppress(FilterError):
        assert parse(str(parse(text))) == parse(text)

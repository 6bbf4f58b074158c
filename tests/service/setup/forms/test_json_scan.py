"""Strict JSON with places."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.service.setup.forms.json_edit import JsonError, Node, scan

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def rebuilt(node: Node, text: str) -> object:
    if node.type == "object":
        return {member.key: rebuilt(member.value, text) for member in node.members}
    if node.type == "array":
        return [rebuilt(item, text) for item in node.items]
    return node.load(text)


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_every_value_is_found_where_it_stands(
    value: object, indent: int | str | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    assert rebuilt(scan(text), text) == value
    assert scan(text, comments=True).load(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "// a\n[1, /* b, ] */ 2 // c ]\n]",
        "[1, 2,]",
        "[1, 2 /* , */ ,\n // end\n]//",
        "/**/[1/***/,2]",
    ],
)
def test_comments_and_a_last_comma_are_read_where_they_may_be(text: str) -> None:
    assert scan(text, comments=True).load(text) == [1, 2]
    with pytest.raises(JsonError):
        scan(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[,]", "is not expected"),
        ("[1,,2]", "is not expected"),
        ("{,}", "is not expected"),
        ("[1 /* ]", "a comment without an end"),
        ("[1 / 2]", '"," or "]" is missing'),
        ("# no", "is not expected"),
    ],
)
def test_nothing_more_than_that_is_read(text: str, says: str) -> None:
    with pytest.raises(JsonError, match=says):
        scan(text, comments=True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1: the text ends too early"),
        ("{\n  // note\n}", "line 2: a comment"),
        ('{\n"a": 1,\n}', "line 3: '}' is not expected"),
        ('{"a" 1}', "a colon is missing"),
        ("[1 2]", '"," or "]" is missing'),
        ("[1,\n2", '"," or "]" is missing'),
        ("{} {}", "after the end"),
        ("{'a': 1}", "is not expected"),
        ("[NaN]", "is not expected"),
        ("[" * 200, "nested deeper"),
        ('"a\nb"', "is not expected"),
    ],
)
def test_anything_else_is_refused_with_its_line(text: str, says: str) -> None:
    with pytest.raises(JsonError) as refused:
        scan(text)

    assert says in str(refused.value)


def test_a_number_that_python_would_not_take_is_refused() -> None:
    with pytest.raises(JsonError, match="line 1: a number of over 4300 characters"):
        scan('{"a": ' + "9" * 5_000 + "}")


def test_a_key_that_stands_twice_is_ambiguous() -> None:
    text = '{"a": 1,\n "a": 2}'

    with pytest.raises(JsonError, match='line 2: the key "a" stands twice'):
        scan(text).get("a", text)

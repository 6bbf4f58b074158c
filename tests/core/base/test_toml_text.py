from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.base.config_text import toml_key, toml_pair, toml_value
from watchgate.core.base.text import hidden_spans

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ('it\'s "so"\t\\', '"it\'s \\"so\\"\\t\\\\"'),
        ("a\x7fb\u200bc\U000e0001", '"a\\u007fb\\u200bc\\U000e0001"'),
        ("é 😀", '"é 😀"'),
        (True, "true"),
        (3, "3"),
        (1e300, "1e+300"),
        (float("nan"), "nan"),
        (-float("inf"), "-inf"),
        (date(2026, 11, 27), "2026-11-27"),
        (time(7, 32), "07:32:00"),
        (datetime(2026, 11, 27, 7, 32, tzinfo=UTC), "2026-11-27T07:32:00+00:00"),
        (("a", [1]), '["a", [1]]'),
        ({}, "{}"),
        ({"a": 1, "b c": {"d": []}}, '{ a = 1, "b c" = { d = [] } }'),
    ],
)
def test_a_value_is_written(value: object, written: str) -> None:
    assert toml_value(value) == written


@given(TEXTS, TEXTS)
def test_a_text_is_read_again_and_hides_nothing(name: str, text: str) -> None:
    line = toml_pair([name], text)
    assert tomllib.loads(line) == {name: text}
    assert hidden_spans(line) == []
    assert "\n" not in line


def test_a_key_is_in_quotes_where_it_has_to_be() -> None:
    assert toml_key(["ui", "a-b_3", "", "a.b", "é"]) == 'ui.a-b_3.""."a.b"."é"'


@pytest.mark.parametrize(
    "value",
    [None, b"bytes", "\ud800", 10**5_000, [None], {"a": {1, 2}}],
    ids=["none", "bytes", "half of a pair", "digits", "list", "set"],
)
def test_what_toml_does_not_have_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        toml_value(value)

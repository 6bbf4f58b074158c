"""docs/filters.md tells of every key and every value, and each example in it can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from watchgate.core.filters.filter_keys import KEYS, KINDS, LANES, STATES
from watchgate.core.filters.filter_parser import parse

PAGE = (Path(__file__).parents[3] / "docs" / "filters.md").read_text(encoding="utf-8")
NOW_US = 1_795_176_288_000_000


def _words(values: tuple[str, ...]) -> str:
    return " ".join(f"`{value}`" for value in values)


def test_the_table_of_keys_is_that_of_the_language() -> None:
    rows = [f"| `{key.name}` | {key.means} | `{key.example}` |" for key in KEYS.values()]
    assert "\n".join(rows) in PAGE


@pytest.mark.parametrize("values", [STATES, KINDS, LANES])
def test_every_value_is_listed(values: tuple[str, ...]) -> None:
    assert _words(values) in PAGE


def test_every_example_can_be_read() -> None:
    for example in (key.example for key in KEYS.values()):
        parse(example, now_us=NOW_US)
    commands = re.findall(r"watchgate (?:search|tail) '([^'\n]+)'", PAGE)
    assert len(commands) >= 3
    for text in commands:
        parse(text, now_us=NOW_US)

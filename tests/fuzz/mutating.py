"""Inputs made of a target's seeds: their JSON with odd values, their bytes cut and spliced."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

DEEP = "[" * 1_500 + "]" * 1_500
DEEP_OBJECT = '{"a":' * 1_500 + "1" + "}" * 1_500
ODD_TEXTS = (
    '""',
    '"\\ud800"',
    '"\\u0000\\u001b[2J\\u202e"',
    '"' + "x" * 600 + '"',
    '"1"',
    '"-1e999"',
)
ODD_NUMBERS = (
    "-1", "0", "1e400", "-0.0", "1.5", "NaN", "Infinity", "9" * 5_000, "18446744073709551616",
    "-9223372036854775809", "9007199254740993",
)  # fmt: skip
ODD = (
    *ODD_TEXTS,
    *ODD_NUMBERS,
    "null",
    "true",
    "[]",
    "{}",
    "[[null]]",
    '{"":{}}',
    DEEP,
    DEEP_OBJECT,
)
"""JSON values that nobody expects, some that only lenient parsers take, as they are written."""

ODD_BYTES = (
    b"", b"\0", b"\xff", b"\xed\xa0\x80", b"\xc3", b"\n", b"\r\n", b"\n\n", b'"', b"}", b"[",
    b"-1", b"9" * 5_000, b"\x1b]0;", b"\xef\xbb\xbf", b": ", b"$(", b"'",
)  # fmt: skip
_MARK = "\ue000"


def inputs(seeds: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    """The seeds, what is made of them, and bytes of no sense."""
    return st.one_of(
        st.sampled_from(seeds).flatmap(odd_values),
        st.sampled_from(seeds).flatmap(lambda seed: changed(seed, seeds)),
        st.binary(max_size=80),
    )


def odd_values(seed: bytes) -> st.SearchStrategy[bytes]:
    """The JSON lines of a seed with a value or a key of one replaced, repeated or left out."""
    start, end = seed.find(b"{"), seed.rfind(b"}") + 1
    lines = seed[start:end].split(b"\n")
    whole = _lines_of(lines)
    if start < 0 or not any(places for _, places in whole):
        return changed(seed, (seed,))
    picks = [
        (number, place) for number, (_, places) in enumerate(whole) for place in range(len(places))
    ]

    def made(pick: tuple[int, int], odd: str, how: str) -> bytes:
        number, place = pick
        value, places = whole[number]
        told = list(lines)
        told[number] = written(value, places[place], odd, how)
        return seed[:start] + b"\n".join(told) + seed[end:]

    ways = st.sampled_from(("replace", "replace", "replace", "twice", "drop", "key"))
    return st.builds(made, st.sampled_from(picks), st.sampled_from(ODD), ways)


def changed(seed: bytes, seeds: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    """The bytes of a seed: cut off, with some replaced or repeated, or spliced with another's."""
    at = st.integers(0, len(seed))

    def replaced(first: int, second: int, odd: bytes) -> bytes:
        low, high = sorted((first, second))
        return seed[:low] + odd + seed[min(high, low + 8) :]

    def spliced(first: int, other: bytes, second: int) -> bytes:
        return seed[:first] + other[second:]

    return st.one_of(
        at.map(lambda end: seed[:end]),
        st.builds(replaced, at, at, st.sampled_from(ODD_BYTES) | st.binary(max_size=4)),
        st.builds(spliced, at, st.sampled_from(seeds), at),
        st.builds(lambda a, b: seed[: max(a, b)] + seed[min(a, b) :], at, at),
    )


def _lines_of(lines: list[bytes]) -> list[tuple[Any, list[tuple[Any, ...]]]]:
    found: list[tuple[Any, list[tuple[Any, ...]]]] = []
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        found.append((value, list(_places(value))))
    return found


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to every value within, each as keys and positions."""
    found: list[tuple[Any, ...]] = [path] if path else []
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        found += _places(inner, (*path, key))
    return found


def written(value: Any, place: tuple[Any, ...], odd: str, how: str) -> bytes:
    """The JSON of a value with something odd at one place of it."""
    copy = json.loads(json.dumps(value))
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    last = place[-1]
    if how == "drop":
        del inner[last]
        return json.dumps(copy).encode()
    if how == "key" and isinstance(inner, dict):
        inner[_MARK] = inner.pop(last)
        key = odd if odd.startswith('"') else '"odd"'
        return json.dumps(copy).replace(json.dumps(_MARK), key).encode()
    if how == "twice" and isinstance(inner, dict):
        inner[_MARK] = inner[last]
        twice = json.dumps(copy).replace(json.dumps(_MARK), json.dumps(last))
        return twice.encode()
    inner[last] = _MARK
    return json.dumps(copy).replace(json.dumps(_MARK), odd).encode()

"""Ids are random and short enough to type; digests do not depend on how a value is written."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.base.ids import canonical_json, digest, request_id

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@given(st.binary(min_size=16, max_size=16))
def test_an_id_is_26_lower_case_crockford_characters_of_128_bits(random: bytes) -> None:
    made = request_id(random)
    assert len(made) == 26
    assert made == made.lower()
    number = 0
    for char in made.upper():
        number = number * 32 + CROCKFORD.index(char)
    assert number.to_bytes(16, "big") == random


@pytest.mark.parametrize(
    ("random", "made"), [(b"\x00" * 16, "0" * 26), (b"\xff" * 16, "7" + "z" * 25)]
)
def test_the_first_and_the_last_id(random: bytes, made: str) -> None:
    assert request_id(random) == made


def test_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="16 bytes, not 8"):
        request_id(b"x" * 8)


def test_canonical_json_is_sorted_compact_and_unescaped() -> None:
    assert (
        canonical_json({"b": [1, "é\u2028/"], "a": None})
        == '{"a":null,"b":[1,"é\u2028/"]}'.encode()
    )


@given(st.dictionaries(st.text(), JSON))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    backwards = dict(reversed(value.items()))
    assert digest(value) == digest(backwards)


def test_a_digest_is_sha256_of_the_canonical_form() -> None:
    assert digest({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()


def test_what_utf8_cannot_carry_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        digest({"command": "\ud800"})

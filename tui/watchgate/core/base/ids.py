"""Request ids and digests: how a request is named, and how exactly what was shown is pinned."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_BYTES = 16
_ID_CHARS = 26
_encode = msgspec.json.Encoder(order="sorted").encode


def request_id(random16: bytes) -> str:
    """The id made of 128 random bits: 26 characters of lower-case Crockford base32.

    Raises `ValueError` unless exactly 16 bytes are given.
    """
    if len(random16) != _ID_BYTES:
        raise ValueError(f"a request id is made of {_ID_BYTES} bytes, not {len(random16)}")
    number = int.from_bytes(random16, "big")
    return "".join(_ALPHABET[number >> 5 * i & 31] for i in reversed(range(_ID_CHARS)))


def canonical_json(obj: Any) -> bytes:
    """The one encoding of a value: sorted keys, compact, UTF-8, no escapes JSON does not need.

    Raises `ValueError` for text that UTF-8 cannot carry (lone surrogates).
    """
    return _encode(obj)


def digest(obj: Any) -> str:
    """SHA-256 of the canonical JSON of a value, as 64 hex digits."""
    return hashlib.sha256(canonical_json(obj)).hexdigest()

"""Checking an ECDSA signature on NIST P-256 with SHA-256 (FIPS 186-5, section 6.4.2).

Nothing secret passes through here.
"""

from __future__ import annotations

from hashlib import sha256

_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551

_Point = tuple[int, int] | None
"""A point of the curve; None is the one at infinity."""

_BASE: _Point = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def is_signed(public: bytes, message: bytes, r: int, s: int) -> bool:
    """Tell whether the owner of this uncompressed point (65 bytes) signed the message so."""
    key = _point(public)
    if key is None or not (0 < r < _ORDER and 0 < s < _ORDER):
        return False
    digest = int.from_bytes(sha256(message).digest(), "big")
    inverse = pow(s, -1, _ORDER)
    point = _sum(_times(digest * inverse % _ORDER, _BASE), _times(r * inverse % _ORDER, key))
    return point is not None and point[0] % _ORDER == r


def _point(encoded: bytes) -> _Point:
    """The point with this encoding; None where there is none on the curve."""
    if len(encoded) != 65 or encoded[0] != 4:
        return None
    x, y = int.from_bytes(encoded[1:33], "big"), int.from_bytes(encoded[33:], "big")
    on_curve = x < _P and y < _P and (y * y - x * x * x + 3 * x - _B) % _P == 0
    return (x, y) if on_curve else None


def _sum(one: _Point, other: _Point) -> _Point:
    if one is None or other is None:
        return one or other
    if one[0] == other[0]:
        if (one[1] + other[1]) % _P == 0:
            return None
        slope = (3 * one[0] * one[0] - 3) * pow(2 * one[1], -1, _P)
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, _P)
    x = (slope * slope - one[0] - other[0]) % _P
    return x, (slope * (one[0] - x) - one[1]) % _P


def _times(scalar: int, point: _Point) -> _Point:
    total: _Point = None
    while scalar:
        if scalar & 1:
            total = _sum(total, point)
        point = _sum(point, point)
        scalar >>= 1
    return total

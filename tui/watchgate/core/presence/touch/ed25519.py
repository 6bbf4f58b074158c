"""Checking an Ed25519 signature (RFC 8032, section 5.1.7); nothing secret passes through here."""

from __future__ import annotations

from hashlib import sha512

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)

_Point = tuple[int, int, int, int]
"""Extended coordinates: X, Y, Z and T = XY/Z."""


def is_signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether this public key (32 bytes) made this signature (64) of the message."""
    if len(public) != 32 or len(signature) != 64:
        return False
    key, nonce = _point(public), _point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or nonce is None or scalar >= _ORDER:
        return False
    digest = sha512(signature[:32] + public + message).digest()
    challenge = int.from_bytes(digest, "little") % _ORDER
    return _equal(_times(scalar, _BASE), _sum(nonce, _times(challenge, key)))


def _point(encoded: bytes) -> _Point | None:
    """The point with this encoding; None where there is none on the curve."""
    y = int.from_bytes(encoded, "little")
    odd, y = y >> 255, y & (1 << 255) - 1
    if y >= _P:
        return None
    squared = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(squared, (_P + 3) // 8, _P)
    if x * x % _P != squared:
        x = x * _ROOT % _P
    if x * x % _P != squared or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = _P - x
    return x, y, 1, x * y % _P


def _sum(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(scalar: int, point: _Point) -> _Point:
    total = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            total = _sum(total, point)
        point = _sum(point, point)
        scalar >>= 1
    return total


def _equal(one: _Point, other: _Point) -> bool:
    return (one[0] * other[2] - other[0] * one[2]) % _P == 0 and (
        one[1] * other[2] - other[1] * one[2]
    ) % _P == 0


_BASE_Y = 4 * pow(5, -1, _P) % _P
_BASE = _point(_BASE_Y.to_bytes(32, "little")) or (0, 1, 1, 0)

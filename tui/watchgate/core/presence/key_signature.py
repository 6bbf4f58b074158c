"""The signature of a touched security key over a challenge (OpenSSH's PROTOCOL.sshsig, .u2f).

- Checking an Ed25519 signature (RFC 8032, section 5.1.7); nothing secret passes through here.
- Checking an ECDSA signature on NIST P-256 with SHA-256 (FIPS 186-5, section 6.4.2). Nothing secret
  passes through here.
- The strings and numbers that OpenSSH's formats consist of (RFC 4251, section 5).
- The public half of a security key, from the line that OpenSSH keeps in a `.pub` file.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from hashlib import sha256, sha512
from typing import Literal

import msgspec

_ED_PRIME = 2**255 - 19
_ED_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _ED_PRIME) % _ED_PRIME
_ROOT = pow(2, (_ED_PRIME - 1) // 4, _ED_PRIME)

_EdPoint = tuple[int, int, int, int]
"""Extended coordinates: X, Y, Z and T = XY/Z."""


def is_ed25519_signature(public: bytes, message: bytes, signature: bytes) -> bool:
    """Returns whether this public key (32 bytes) made this signature (64) of the message."""
    if len(public) != 32 or len(signature) != 64:
        return False
    key, nonce = _ed_point(public), _ed_point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or nonce is None or scalar >= _ED_ORDER:
        return False
    digest = sha512(signature[:32] + public + message).digest()
    challenge = int.from_bytes(digest, "little") % _ED_ORDER
    return _equal(_ed_times(scalar, _ED_BASE), _ed_sum(nonce, _ed_times(challenge, key)))


def _ed_point(encoded: bytes) -> _EdPoint | None:
    """The point with this encoding; None where there is none on the curve."""
    y = int.from_bytes(encoded, "little")
    odd, y = y >> 255, y & (1 << 255) - 1
    if y >= _ED_PRIME:
        return None
    squared = (y * y - 1) * pow(_D * y * y + 1, -1, _ED_PRIME) % _ED_PRIME
    x = pow(squared, (_ED_PRIME + 3) // 8, _ED_PRIME)
    if x * x % _ED_PRIME != squared:
        x = x * _ROOT % _ED_PRIME
    if x * x % _ED_PRIME != squared or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = _ED_PRIME - x
    return x, y, 1, x * y % _ED_PRIME


def _ed_sum(one: _EdPoint, other: _EdPoint) -> _EdPoint:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _ED_PRIME
    b = (one[1] + one[0]) * (other[1] + other[0]) % _ED_PRIME
    c = 2 * one[3] * other[3] * _D % _ED_PRIME
    d = 2 * one[2] * other[2] % _ED_PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _ED_PRIME, g * h % _ED_PRIME, f * g % _ED_PRIME, e * h % _ED_PRIME


def _ed_times(scalar: int, point: _EdPoint) -> _EdPoint:
    total = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            total = _ed_sum(total, point)
        point = _ed_sum(point, point)
        scalar >>= 1
    return total


def _equal(one: _EdPoint, other: _EdPoint) -> bool:
    return (one[0] * other[2] - other[0] * one[2]) % _ED_PRIME == 0 and (
        one[1] * other[2] - other[1] * one[2]
    ) % _ED_PRIME == 0


_BASE_Y = 4 * pow(5, -1, _ED_PRIME) % _ED_PRIME
_ED_BASE = _ed_point(_BASE_Y.to_bytes(32, "little")) or (0, 1, 1, 0)


_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551

_Point = tuple[int, int] | None
"""A point of the curve; None is the one at infinity."""

_BASE: _Point = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def is_p256_signature(public: bytes, message: bytes, r: int, s: int) -> bool:
    """Tells whether the owner of this uncompressed point (65 bytes) signed the message so."""
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


class WireFault(ValueError):
    """These bytes are not what they should be; the message says in which way."""


class FieldReader:
    """Reads one field after the other; raises `WireFault` where the bytes end too early."""

    def __init__(self, content: bytes) -> None:
        self._left = content

    def take(self, size_bytes: int) -> bytes:
        """The next so many bytes."""
        if size_bytes > len(self._left):
            raise WireFault("it is cut short")
        taken, self._left = self._left[:size_bytes], self._left[size_bytes:]
        return taken

    def number(self) -> int:
        """An unsigned number of 32 bits."""
        return int.from_bytes(self.take(4), "big")

    def string(self) -> bytes:
        """Bytes after their length."""
        return self.take(self.number())

    def end(self) -> None:
        """Raises `WireFault` where something is left."""
        if self._left:
            raise WireFault("there is more of it than there should be")


def packed(content: bytes) -> bytes:
    """Bytes behind their length, as `FieldReader.string` reads them."""
    return len(content).to_bytes(4, "big") + content


Kind = Literal["sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"]
ED25519: Kind = "sk-ssh-ed25519@openssh.com"
ECDSA: Kind = "sk-ecdsa-sha2-nistp256@openssh.com"
LONGEST_LINE = 4_096


class PublicKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key of this kind; `blob` is its whole encoding, `point` and `application` are in it."""

    kind: Kind
    blob: bytes
    point: bytes
    application: bytes

    @property
    def fingerprint(self) -> str:
        """Its name as `ssh-keygen -l` prints it."""
        digest = b64encode(sha256(self.blob).digest()).rstrip(b"=")
        return f"SHA256:{digest.decode('ascii')}"


def public_key(line: str) -> PublicKey:
    """The key of this line; raises `WireFault` for any that can sign without being touched."""
    words = line.split()
    if len(line) > LONGEST_LINE or len(words) < 2:
        raise WireFault("this is no public key of OpenSSH (FILE.pub)")
    if words[0] not in (ED25519, ECDSA):
        raise WireFault(
            f"only a security key proves a touch ({ED25519} or {ECDSA}, made by "
            "ssh-keygen -t ed25519-sk): with any other an agent could sign by itself"
        )
    try:
        blob = b64decode(words[1], validate=True)
    except ValueError:
        raise WireFault("this public key is damaged: it is not base64") from None
    fields = FieldReader(blob)
    kind = fields.string()
    if kind != words[0].encode():
        raise WireFault("this public key is damaged: it holds another kind")
    if words[0] == ECDSA and fields.string() != b"nistp256":
        raise WireFault("this public key is damaged: it is of another curve")
    point, application = fields.string(), fields.string()
    fields.end()
    if len(point) != (32 if words[0] == ED25519 else 65):
        raise WireFault("this public key is damaged: its point has the wrong size")
    return PublicKey(kind=words[0], blob=blob, point=point, application=application)


NAMESPACE = "watchgate-unlock"
LONGEST = 8_192
TOUCHED = 0x01
_MAGIC = b"SSHSIG"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_HASHES = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}


def check_touch(armoured: str, key: PublicKey, message: bytes) -> None:
    """Checks that this key signed the message for us while touched; else raises `WireFault`."""
    fields = FieldReader(_unarmoured(armoured))
    if fields.take(len(_MAGIC)) != _MAGIC or fields.number() != 1:
        raise WireFault("it is no SSH signature of version 1")
    if fields.string() != key.blob:
        raise WireFault("another key made it")
    namespace, reserved, hashed_by = fields.string(), fields.string(), fields.string()
    signature = fields.string()
    fields.end()
    if namespace != NAMESPACE.encode():
        raise WireFault("it was made for another purpose")
    if hashed_by not in _HASHES:
        raise WireFault("it hashes the message in an unknown way")
    digest = _HASHES[hashed_by](message).digest()
    signed = b"".join((_MAGIC, *map(packed, (namespace, reserved, hashed_by, digest))))
    _check_blob(signature, key, signed)


def _check_blob(blob: bytes, key: PublicKey, signed: bytes) -> None:
    fields = FieldReader(blob)
    if fields.string() != key.kind.encode():
        raise WireFault("it is of another kind than the key")
    signature = fields.string()
    flags, counter = fields.take(1), fields.take(4)
    fields.end()
    digests = hashlib.sha256(key.application).digest(), hashlib.sha256(signed).digest()
    message = digests[0] + flags + counter + digests[1]
    if not _is_signed(signature, key, message):
        raise WireFault("it is not of this challenge")
    if not flags[0] & TOUCHED:
        raise WireFault("the key was not touched (it was made with no-touch-required)")


def _is_signed(signature: bytes, key: PublicKey, message: bytes) -> bool:
    if key.kind == ED25519:
        return is_ed25519_signature(key.point, message, signature)
    numbers = FieldReader(signature)
    r, s = (int.from_bytes(numbers.string(), "big") for _ in range(2))
    numbers.end()
    return is_p256_signature(key.point, message, r, s)


def _unarmoured(armoured: str) -> bytes:
    lines = armoured.split()
    begin, end = _BEGIN.split(), _END.split()
    framed = lines[:3] == begin and lines[-3:] == end
    if len(armoured) > LONGEST or not framed:
        raise WireFault("it is no SSH signature")
    try:
        return b64decode("".join(lines[3:-3]), validate=True)
    except ValueError:
        raise WireFault("it is no SSH signature: it is not base64") from None

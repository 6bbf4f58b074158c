"""The signature of a touched security key over a challenge (OpenSSH's PROTOCOL.sshsig, .u2f)."""

from __future__ import annotations

import hashlib
from base64 import b64decode

from watchgate.core.presence.touch import ed25519, p256
from watchgate.core.presence.touch.public_key import ED25519, PublicKey
from watchgate.core.presence.touch.wire import Fields, WireFault, packed

NAMESPACE = "watchgate-unlock"
LONGEST = 8_192
TOUCHED = 0x01
_MAGIC = b"SSHSIG"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_HASHES = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}


def check_touch(armoured: str, key: PublicKey, message: bytes) -> None:
    """Return where this key signed the message for us while it was touched; else `WireFault`."""
    fields = Fields(_unarmoured(armoured))
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
    fields = Fields(blob)
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
        return ed25519.is_signed(key.point, message, signature)
    numbers = Fields(signature)
    r, s = (int.from_bytes(numbers.string(), "big") for _ in range(2))
    numbers.end()
    return p256.is_signed(key.point, message, r, s)


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

"""Signatures of security keys, made and judged by the real ssh-keygen.

The key itself is one of software (tests/security_key.py): no hardware can be touched here.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from pathlib import Path

import pytest

from tests.security_key import software_key
from watchgate.core.presence import key_signature
from watchgate.core.presence.key_signature import (
    ECDSA,
    ED25519,
    Kind,
    WireFault,
    check_touch,
    public_key,
)

MESSAGE = "5f" * 32
KINDS = pytest.mark.parametrize("kind", [ED25519, ECDSA])


@KINDS
def test_what_openssh_takes_is_taken(tmp_path: Path, kind: Kind) -> None:
    key = software_key(tmp_path, kind)
    for _ in range(3):
        armoured = key.signed(MESSAGE)
        assert key.is_accepted_by_openssh(MESSAGE, armoured)
        check_touch(armoured, public_key(key.line), MESSAGE.encode())


@KINDS
def test_any_changed_byte_is_refused(tmp_path: Path, kind: Kind) -> None:
    key = software_key(tmp_path, kind)
    known = public_key(key.line)
    lines = key.signed(MESSAGE).splitlines()
    blob = b64decode("".join(lines[1:-1]))
    for at in range(len(blob)):
        bent = bytearray(blob)
        bent[at] ^= 1 << at % 8
        text = "\n".join((lines[0], b64encode(bent).decode(), lines[-1]))
        with pytest.raises(WireFault):
            check_touch(text, known, MESSAGE.encode())
    for cut in (blob[:-1], blob + b"\0", blob[:6], b""):
        text = "\n".join((lines[0], b64encode(cut).decode(), lines[-1]))
        with pytest.raises(WireFault):
            check_touch(text, known, MESSAGE.encode())


@KINDS
def test_without_a_touch_what_openssh_may_take_is_refused(tmp_path: Path, kind: Kind) -> None:
    key = software_key(tmp_path, kind, flags=0)
    with pytest.raises(WireFault, match="not touched"):
        check_touch(key.signed(MESSAGE), public_key(key.line), MESSAGE.encode())
    # Of the flags it is this one that counts, not that there is any.
    key.flags = 0x04
    with pytest.raises(WireFault, match="not touched"):
        check_touch(key.signed(MESSAGE), public_key(key.line), MESSAGE.encode())


def test_another_key_purpose_or_message_is_refused(tmp_path: Path) -> None:
    key, other = software_key(tmp_path / "a"), software_key(tmp_path / "b")
    known = public_key(key.line)
    with pytest.raises(WireFault, match="another key"):
        check_touch(other.signed(MESSAGE), known, MESSAGE.encode())
    with pytest.raises(WireFault, match="another purpose"):
        check_touch(key.signed(MESSAGE, "git"), known, MESSAGE.encode())
    with pytest.raises(WireFault, match="not of this challenge"):
        check_touch(key.signed(MESSAGE[1:]), known, MESSAGE.encode())


def test_either_hash_of_openssh_is_taken(tmp_path: Path) -> None:
    key = software_key(tmp_path)
    armoured = key.signed(MESSAGE, "watchgate-unlock", "-O", "hashalg=sha256")
    check_touch(armoured, public_key(key.line), MESSAGE.encode())


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "no public key"),
        ("ssh-ed25519 AAAA me@here", "an agent could sign by itself"),
        ("ecdsa-sha2-nistp256 AAAA", "an agent could sign by itself"),
        (f"no-touch-required {ED25519} AAAA", "an agent could sign by itself"),
        (f"{ED25519} &&&&", "not base64"),
        (f"{ED25519} AAAA", "cut short"),
        (f"{ED25519} {'A' * 5_000}", "no public key"),
    ],
)
def test_what_is_no_security_key_is_refused(line: str, why: str) -> None:
    with pytest.raises(WireFault, match=why):
        public_key(line)


def test_a_name_that_the_key_itself_does_not_bear_is_refused(tmp_path: Path) -> None:
    line = software_key(tmp_path).line.replace(ED25519, ECDSA)
    with pytest.raises(WireFault, match="another kind"):
        public_key(line)


def test_a_key_has_the_fingerprint_that_openssh_prints() -> None:
    line = (
        "sk-ssh-ed25519@openssh.com "
        "AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIAABAgMEBQYHCAkKCwwN"
        "Dg8QERITFBUWFxgZGhscHR4fAAAABHNzaDo="
    )
    assert public_key(line).fingerprint == "SHA256:/p0CbeE3dk2SyW1OXXsThGc12ezDVD8eGw2/vtztDfk"


def test_the_published_vectors_hold() -> None:
    """RFC 8032, section 7.1, test 2; RFC 6979, A.2.5, SHA-256 of "sample"."""
    public = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    signature = bytes.fromhex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    assert key_signature.is_ed25519_signature(public, b"\x72", signature)
    assert not key_signature.is_ed25519_signature(public, b"\x73", signature)
    order = 2**252 + 27742317777372353535851937790883648493
    again = int.from_bytes(signature[32:], "little") + order
    twin = signature[:32] + again.to_bytes(32, "little")
    assert not key_signature.is_ed25519_signature(public, b"\x72", twin), (
        "a second form of the same signature"
    )
    point = bytes.fromhex(
        "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
        "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
    )
    r = 0xEFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716
    s = 0xF7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8
    assert key_signature.is_p256_signature(point, b"sample", r, s)
    assert not key_signature.is_p256_signature(point, b"simple", r, s)
    for bad in (0, 2**256):
        assert not key_signature.is_p256_signature(point, b"sample", bad, s)
        assert not key_signature.is_p256_signature(point, b"sample", r, bad)
    assert not key_signature.is_p256_signature(point[:-1] + b"\0", b"sample", r, s), (
        "a point off the curve"
    )

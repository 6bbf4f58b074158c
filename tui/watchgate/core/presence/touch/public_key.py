"""The public half of a security key, from the line that OpenSSH keeps in a `.pub` file."""

from __future__ import annotations

from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Literal

import msgspec

from watchgate.core.presence.touch.wire import Fields, WireFault

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
    fields = Fields(blob)
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

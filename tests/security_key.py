"""A security key of software, for no machine that runs the tests has one that could be touched.

It is a mock of the hardware alone: OpenSSL makes the bare signature, over the very bytes that a
FIDO authenticator signs, and hands it out as ssh-agent would. `ssh-keygen -Y sign` and
`-Y verify`, which write and read the signature, are the real ones.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from watchgate.core.presence.key_signature import (
    ECDSA,
    ED25519,
    NAMESPACE,
    FieldReader,
    Kind,
    packed,
)

TOUCHED = 0x01
_PARAMETERS = {ED25519: ("ed25519",), ECDSA: ("EC", "-pkeyopt", "ec_paramgen_curve:P-256")}


class SoftKey:
    """One key in a folder; `flags` are those that it signs with, `touches` how often it did.

    `before_touch` is called before it signs: it may wait, as a person may.
    """

    def __init__(self, folder: Path, kind: Kind = ED25519, flags: int = TOUCHED) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.kind = kind
        self.flags = flags
        self.touches = 0
        self.before_touch: Callable[[], object] = lambda: None
        self.path = folder / "id_sk.pub"
        self.socket = folder / "agent"
        self._folder = folder
        self._private = folder / "private.pem"
        _run("openssl", "genpkey", "-algorithm", *_PARAMETERS[kind], "-out", str(self._private))
        encoded = _run("openssl", "pkey", "-in", str(self._private), "-pubout", "-outform", "DER")
        point = encoded[-32:] if kind == ED25519 else encoded[-65:]
        curve = b"" if kind == ED25519 else packed(b"nistp256")
        self.blob = packed(kind.encode()) + curve + packed(point) + packed(b"ssh:")
        self.line = f"{kind} {b64encode(self.blob).decode()} test"
        self.path.write_text(f"{self.line}\n")

    def signed(self, message: str, namespace: str = NAMESPACE, *more: str) -> str:
        """What the real ssh-keygen makes of it, by an agent that knows this key."""
        with self.agent():
            argv = ("ssh-keygen", "-Y", "sign", "-n", namespace, "-f", str(self.path), *more)
            found = _run(*argv, given=message.encode(), SSH_AUTH_SOCK=str(self.socket))
        return found.decode()

    def is_accepted_by_openssh(self, message: str, armoured: str) -> bool:
        """Whether the real `ssh-keygen -Y verify` takes this signature."""
        allowed, signature = self._folder / "allowed", self._folder / "signature"
        allowed.write_text(f"me {self.line}\n")
        signature.write_text(armoured)
        argv = ["ssh-keygen", "-Y", "verify", "-n", NAMESPACE, "-I", "me"]
        argv += ["-f", str(allowed), "-s", str(signature)]
        done = subprocess.run(argv, input=message.encode(), capture_output=True, check=False)
        return done.returncode == 0

    @contextlib.contextmanager
    def agent(self) -> Iterator[None]:
        """Answers as ssh-agent does, on `socket`, until the end."""
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(self.socket))
            listening.listen()
            serving = threading.Thread(target=self._serve, args=(listening,), daemon=True)
            serving.start()
            try:
                yield
            finally:
                listening.shutdown(socket.SHUT_RDWR)
                serving.join()
                self.socket.unlink()

    def _serve(self, listening: socket.socket) -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            # Who asked may not wait any longer.
            with contextlib.suppress(OSError), client, client.makefile("rwb") as stream:
                while head := stream.read(4):
                    answer = self._answer(stream.read(int.from_bytes(head, "big")))
                    stream.write(packed(answer))
                    stream.flush()

    def _answer(self, asked: bytes) -> bytes:
        """One answer of draft-miller-ssh-agent: the identities (12), a signature (14), no (5)."""
        if asked[0] == 11:
            return b"\x0c" + (1).to_bytes(4, "big") + packed(self.blob) + packed(b"test")
        if asked[0] == 13:
            fields = FieldReader(asked[1:])
            fields.string()
            return b"\x0e" + packed(self._signature(fields.string()))
        return b"\x05"

    def _signature(self, data: bytes) -> bytes:
        """What PROTOCOL.u2f says that the authenticator signs, and how OpenSSH writes that."""
        self.before_touch()
        self.touches += 1
        rest = bytes([self.flags]) + self.touches.to_bytes(4, "big")
        signed = sha256(b"ssh:").digest() + rest + sha256(data).digest()
        message = self._folder / "message"
        message.write_bytes(signed)
        argv = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", str(self._private)]
        argv += ["-in", str(message)]
        if self.kind == ED25519:
            found = _run(*argv)
        else:
            found = b"".join(map(packed, _numbers(_run(*argv, "-digest", "sha256"))))
        return packed(self.kind.encode()) + packed(found) + rest


def software_key(folder: Path, kind: Kind = ED25519, flags: int = TOUCHED) -> SoftKey:
    """A new key; skips the test where the programs that it needs are not installed."""
    try:
        return SoftKey(folder, kind, flags)
    except FileNotFoundError as missing:
        pytest.skip(f"{missing.filename} is not installed")


def _numbers(der: bytes) -> tuple[bytes, bytes]:
    """The two numbers of an ECDSA signature: SEQUENCE of INTEGER, each shorter than 128 bytes."""
    first = 4 + der[3]
    return der[4:first], der[first + 2 :]


def _run(*argv: str, given: bytes = b"", **environment: str) -> bytes:
    done = subprocess.run(
        argv, input=given, capture_output=True, check=True, env={**os.environ, **environment}
    )
    return done.stdout

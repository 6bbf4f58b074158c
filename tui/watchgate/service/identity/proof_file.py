"""The file of the proofs that unlock a terminal: a PIN's hash, a key's public half, or both."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
import msgspec

from watchgate.core import decoding
from watchgate.core.decisions import Refused
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.service.identity.sealed_file import SealedFile

VERSION = 1


class Proofs(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A PIN's salt and hash, and the line of a public key with the path it was read from."""

    version: int
    salt: bytes = b""
    hash: bytes = b""
    key: str = ""
    key_file: str = ""


NONE = Proofs(version=VERSION)


class ProofFile(SealedFile):
    """The PIN and the key of one core, in one file, so that one fingerprint covers both."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._turn = anyio.Lock()

    def proofs(self) -> Proofs:
        """Returns the proofs; raises `Refused` where the file cannot be trusted or read."""
        if self.distrusted:
            raise Refused(
                "locked",
                f"{self.distrusted}: set a new PIN (watchgate pin set) in a terminal window "
                "that was open before the agent, or while no agent runs",
            )
        if self.content is None:
            return NONE
        try:
            return decoding.decode(self.content, Proofs)
        except JSON_FAULTS as fault:
            raise Refused("locked", f"{self.path} cannot be read: {fault}") from None

    def has(self, part: Literal["hash", "key"], *, unreadable: bool) -> bool:
        """Returns whether this is set; `unreadable` where the file does not say."""
        try:
            return bool(getattr(self.proofs(), part))
        except Refused:
            return unreadable

    async def change(self, **parts: bytes | str) -> None:
        """Sets these parts, and keeps the others where they can be trusted."""
        async with self._turn:
            try:
                before = self.proofs()
            except Refused:
                before = NONE
            proofs = msgspec.structs.replace(before, **parts)
            content = None if proofs == NONE else msgspec.json.encode(proofs)
            await anyio.to_thread.run_sync(self.replace, content)

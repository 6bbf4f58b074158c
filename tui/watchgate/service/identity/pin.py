"""The PIN or passphrase that unlocks a terminal: hashed by scrypt, guessed five times at most.

It stands in no log, record, argument or variable; only a salt and a hash are stored.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

import anyio.to_thread

from watchgate.core.decisions import Refused
from watchgate.service.identity.guesses import Guesses
from watchgate.service.identity.proof_file import ProofFile

SHORTEST = 6
LONGEST = 1_024
COST, BLOCK, LANES = 2**15, 8, 1
_MEMORY_BYTES = 64 * 1024 * 1024
_SALT_BYTES = 16


class Pin:
    """The PIN of one core; wrong tries count for all callers together."""

    def __init__(self, file: ProofFile, guesses: Guesses) -> None:
        self.file = file
        self._guesses = guesses

    @property
    def is_set(self) -> bool:
        """Returns whether locked verbs need a PIN; they do where the file cannot be trusted."""
        return self.file.has("hash", unreadable=True)

    async def verify(self, pin: str) -> None:
        """Returns for the right one; raises `Refused` for any other, and while none is taken."""
        async with self._guesses.turn:
            proofs = self.file.proofs()
            await self._guesses.begin()
            salt = proofs.salt or bytes(_SALT_BYTES)
            digest = await anyio.to_thread.run_sync(_hash, pin, salt)
            if not proofs.hash:
                raise Refused("wrong_pin", "no PIN is set (watchgate pin set)")
            if not hmac.compare_digest(digest, proofs.hash):
                self._guesses.wrong("this is not the PIN")
            await self._guesses.forget()

    async def set(self, pin: str) -> None:
        """Takes this one from now on; raises `Refused` for one that is too short or too long."""
        if not SHORTEST <= len(pin) <= LONGEST:
            raise Refused("bad_request", f"a PIN has {SHORTEST} to {LONGEST} characters")
        salt = secrets.token_bytes(_SALT_BYTES)
        digest = await anyio.to_thread.run_sync(_hash, pin, salt)
        await self.file.change(salt=salt, hash=digest)
        await self._guesses.forget()

    async def remove(self) -> None:
        """Removes the PIN."""
        await self.file.change(salt=b"", hash=b"")


def _hash(pin: str, salt: bytes) -> bytes:
    secret = pin.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=salt, n=COST, r=BLOCK, p=LANES, maxmem=_MEMORY_BYTES)

"""The PIN or passphrase that unlocks a terminal: hashed by scrypt, guessed five times and no more.

It stands in no log, record, argument or variable; what is kept of it is a salt and a hash.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from watchgate.core.clock import Clock
from watchgate.core.decisions import Refused
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.service.identity.sealed_file import SealedFile
from watchgate.service.identity.tries import TRIES, Tries

SHORTEST = 6
LONGEST = 1_024
COST, BLOCK, LANES = 2**15, 8, 1
_MEMORY_BYTES = 64 * 1024 * 1024
_SALT_BYTES = 16


class _Hashed(msgspec.Struct, frozen=True, kw_only=True):
    salt: bytes
    hash: bytes
    version: int = 1


class Pin:
    """The PIN of one core; wrong tries count for all callers together."""

    def __init__(self, file: SealedFile, tries: Path, clock: Clock) -> None:
        """`tries` is the file that counts wrong ones."""
        self.file = file
        self._tries = Tries(tries, clock)
        self._turn = anyio.Lock()

    @property
    def is_set(self) -> bool:
        """Whether what is locked needs a PIN; so it does where the file cannot be trusted."""
        return self.file.content is not None or bool(self.file.distrusted)

    async def verify(self, pin: str) -> None:
        """Return for the right one; raise `Refused` for any other, and while none is taken."""
        # One after the other: guesses at the same time would each be the fifth.
        async with self._turn:
            hashed = self._hashed()
            self._check_pause()
            await self._count()
            salt = hashed.salt if hashed is not None else bytes(_SALT_BYTES)
            found = await anyio.to_thread.run_sync(_hash, pin, salt)
            if hashed is None:
                raise Refused("wrong_pin", "no PIN is set (watchgate pin set)")
            if hmac.compare_digest(found, hashed.hash):
                await self._forget_tries()
                return
            self._check_pause()
            left = TRIES - self._tries.wrong
            raise Refused("wrong_pin", f"this is not the PIN; {left} more before a pause", wait_s=0)

    async def set(self, pin: str) -> None:
        """Take this one from now on; raises `Refused` for one that is too short or too long."""
        if not SHORTEST <= len(pin) <= LONGEST:
            raise Refused("bad_request", f"a PIN has {SHORTEST} to {LONGEST} characters")
        salt = secrets.token_bytes(_SALT_BYTES)
        hashed = _Hashed(salt=salt, hash=await anyio.to_thread.run_sync(_hash, pin, salt))
        await anyio.to_thread.run_sync(self.file.replace, msgspec.json.encode(hashed))
        await self._forget_tries()

    async def remove(self) -> None:
        """Have none from now on."""
        await anyio.to_thread.run_sync(self.file.replace, None)

    def _hashed(self) -> _Hashed | None:
        if self.file.distrusted:
            raise Refused(
                "locked",
                f"{self.file.distrusted}: set a new PIN (watchgate pin set) in a terminal window "
                "that was open before the agent, or while no agent runs",
            )
        if self.file.content is None:
            return None
        try:
            return msgspec.json.decode(self.file.content, type=_Hashed)
        except JSON_FAULTS as fault:
            raise Refused("locked", f"{self.file.path} cannot be read: {fault}") from None

    def _check_pause(self) -> None:
        if left_s := self._tries.left_s:
            words = f"{self._tries.wrong} wrong PINs: none is taken for {left_s} s"
            raise Refused("wrong_pin", words, wait_s=left_s)

    async def _count(self) -> None:
        try:
            await anyio.to_thread.run_sync(self._tries.count)
        except OSError as fault:
            # Uncounted tries would be as many as somebody can start cores.
            why = fault.strerror or fault
            raise Refused("locked", f"no PIN is taken, as tries cannot be counted: {why}") from None

    async def _forget_tries(self) -> None:
        with suppress(OSError):  # then they count on, which only makes a pause come sooner
            await anyio.to_thread.run_sync(self._tries.forget)


def _hash(pin: str, salt: bytes) -> bytes:
    secret = pin.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=salt, n=COST, r=BLOCK, p=LANES, maxmem=_MEMORY_BYTES)

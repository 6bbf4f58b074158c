"""The PIN or passphrase that unlocks a terminal: hashed by scrypt, guessed five times and no more.

It stands in no log, record, argument or variable; what is kept of it is a salt and a hash.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from math import ceil

import anyio
import anyio.to_thread
import msgspec

from watchgate.core.clock import Clock
from watchgate.core.decisions import Refused
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.service.identity.sealed_file import SealedFile

SHORTEST = 6
LONGEST = 1_024
TRIES = 5
PAUSE_S = 30.0
LONGEST_PAUSE_S = 86_400.0
COST, BLOCK, LANES = 2**15, 8, 1
_MEMORY_BYTES = 64 * 1024 * 1024
_SALT_BYTES = 16


class _Hashed(msgspec.Struct, frozen=True, kw_only=True):
    salt: bytes
    hash: bytes
    version: int = 1


class Pin:
    """The PIN of one core; wrong tries count for all callers together."""

    def __init__(self, file: SealedFile, clock: Clock) -> None:
        self.file = file
        self._clock = clock
        self._turn = anyio.Lock()
        self._wrong = 0
        self._paused_until_s = 0.0

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
            salt = hashed.salt if hashed is not None else bytes(_SALT_BYTES)
            found = await anyio.to_thread.run_sync(_hash, pin, salt)
            if hashed is None:
                raise Refused("wrong_pin", "no PIN is set (watchgate pin set)")
            if hmac.compare_digest(found, hashed.hash):
                self._wrong = 0
                return
            self._wrong += 1
            if self._wrong >= TRIES:
                longer = PAUSE_S * 2 ** min(self._wrong - TRIES, 30)
                pause_s = min(longer, LONGEST_PAUSE_S)
                self._paused_until_s = self._clock.now().mono_s + pause_s
                self._check_pause()
            left = TRIES - self._wrong
            raise Refused("wrong_pin", f"this is not the PIN; {left} more before a pause", wait_s=0)

    async def set(self, pin: str) -> None:
        """Take this one from now on; raises `Refused` for one that is too short or too long."""
        if not SHORTEST <= len(pin) <= LONGEST:
            raise Refused("bad_request", f"a PIN has {SHORTEST} to {LONGEST} characters")
        salt = secrets.token_bytes(_SALT_BYTES)
        hashed = _Hashed(salt=salt, hash=await anyio.to_thread.run_sync(_hash, pin, salt))
        await anyio.to_thread.run_sync(self.file.replace, msgspec.json.encode(hashed))
        self._wrong = 0

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
        left_s = ceil(self._paused_until_s - self._clock.now().mono_s)
        if left_s > 0:
            words = f"{self._wrong} wrong PINs: none is taken for {left_s} s"
            raise Refused("wrong_pin", words, wait_s=left_s)


def _hash(pin: str, salt: bytes) -> bytes:
    secret = pin.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=salt, n=COST, r=BLOCK, p=LANES, maxmem=_MEMORY_BYTES)

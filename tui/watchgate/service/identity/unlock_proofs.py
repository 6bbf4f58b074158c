"""The PIN or passphrase that unlocks a terminal: hashed by scrypt, guessed five times at most.

It stands in no log, record, argument or variable; only a salt and a hash are stored.

- `pin-tries.json` in the state directory: wrong PINs one after the other, and the pause. A try is
  on disk as a wrong one before it is checked, so no end of a core takes one back.
- Guesses at the proofs that unlock a terminal; PIN and security key count as one.
- The security key that unlocks a terminal: its public half, and the check of its signatures.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import Annotated, NoReturn

import anyio
import anyio.to_thread
import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.clock import Clock
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.presence.key_signature import PublicKey, WireFault, check_touch, public_key
from watchgate.service.identity.sealed_files import ProofFile
from watchgate.service.system import safe_files

MAX_TRIES = 5
PAUSE_S = 30.0
LONGEST_PAUSE_S = 86_400.0
_US = 1_000_000


class _TriesFile(msgspec.Struct, frozen=True, kw_only=True):
    wrong: Annotated[int, msgspec.Meta(ge=0, le=2**53)]
    until: Annotated[int, msgspec.Meta(ge=0, le=2**53)]
    version: int = 1


class PinTries:
    """The count of wrong PINs in a row (`wrong`), for all callers together.

    A file that cannot be read counts as five.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self.wrong = 0
        self._paused_until_s = 0.0
        self._load()

    @property
    def left_s(self) -> int:
        """The seconds until a guess is taken again, 0 where one is taken now."""
        return max(ceil(self._paused_until_s - self._clock.now().mono_s), 0)

    def count(self) -> None:
        """Counts one more as wrong, and pauses where it is the fifth or a later one.

        Raises `OSError` where the file cannot be written; it is counted all the same.
        """
        self.wrong += 1
        now, pause_s = self._clock.now(), _pause_s(self.wrong)
        self._paused_until_s = now.mono_s + pause_s
        until = now.wall_us + round(pause_s * _US)
        safe_files.replace_own_file(
            self._path, msgspec.json.encode(_TriesFile(wrong=self.wrong, until=until))
        )

    def forget(self) -> None:
        """Begins anew, after the right one. Raises `OSError`."""
        self.wrong, self._paused_until_s = 0, 0.0
        self._path.unlink(missing_ok=True)

    def _load(self) -> None:
        now = self._clock.now()
        try:
            counted = decoding.decode(safe_files.read_own_file(self._path), _TriesFile)
        except FileNotFoundError:
            return
        except (OSError, *JSON_FAULTS):
            counted = _TriesFile(wrong=MAX_TRIES, until=now.wall_us + round(PAUSE_S * _US))
        self.wrong = counted.wrong
        # A wall clock that was set back makes no pause longer than it was.
        left_s = min((counted.until - now.wall_us) / _US, _pause_s(counted.wrong))
        self._paused_until_s = now.mono_s + left_s


def _pause_s(wrong: int) -> float:
    """Returns the pause: 30 s after the fifth, twice as long after each more, up to a day."""
    if wrong < MAX_TRIES:
        return 0.0
    pause_s: float = min(PAUSE_S * 2.0 ** min(wrong - MAX_TRIES, 30), LONGEST_PAUSE_S)
    return pause_s


class Guesses:
    """The guesses of all callers together.

    `turn` is held while one is checked: guesses at the same time would each be the fifth.
    """

    def __init__(self, tries: PinTries) -> None:
        self.turn = anyio.Lock()
        self._tries = tries

    async def begin(self) -> None:
        """Counts the guess as wrong before it is checked; raises `Refused` while none is taken."""
        self._check_pause()
        try:
            await anyio.to_thread.run_sync(self._tries.count)
        except OSError as fault:
            # Uncounted tries would be as many as somebody can start cores.
            why = fault.strerror or fault
            raise Refused("locked", f"no PIN is taken, as tries cannot be counted: {why}") from None

    async def forget(self) -> None:
        """Begins anew, after the right one."""
        with suppress(OSError):  # then they count on, which only makes a pause come sooner
            await anyio.to_thread.run_sync(self._tries.forget)

    def wrong(self, why: str) -> NoReturn:
        """Raises `Refused` with the number of guesses left or the time to wait."""
        self._check_pause()
        left = MAX_TRIES - self._tries.wrong
        raise Refused("wrong_pin", f"{why}; {left} more before a pause", wait_s=0)

    def _check_pause(self) -> None:
        if left_s := self._tries.left_s:
            words = f"{self._tries.wrong} wrong tries: none is taken for {left_s} s"
            raise Refused("wrong_pin", words, wait_s=left_s)


LONGEST_PATH = 4_096


class TouchKey:
    """The security key of one core; wrong signatures count as wrong PINs do."""

    def __init__(self, file: ProofFile, guesses: Guesses) -> None:
        self._file = file
        self._guesses = guesses

    @property
    def is_set(self) -> bool:
        """Returns whether there is one; a file that cannot be trusted has none."""
        return self._file.has("key", unreadable=False)

    @property
    def path(self) -> str:
        """The `.pub` file that it was set from; raises `Refused` where no key is set."""
        proofs = self._file.proofs()
        if not proofs.key:
            raise Refused("wrong_pin", "no security key is set (watchgate pin set --key FILE.pub)")
        return proofs.key_file

    async def verify(self, challenge: str | None, signature: str) -> None:
        """Checks that the touched key signed this challenge; else raises `Refused`."""
        async with self._guesses.turn:
            line = self._file.proofs().key
            await self._guesses.begin()
            if not line:
                self._guesses.wrong("no security key is set")
            if challenge is None:
                self._guesses.wrong("this terminal has no challenge that could be signed now")
            key = _parsed_key(line)
            try:
                await anyio.to_thread.run_sync(check_touch, signature, key, challenge.encode())
            except WireFault as fault:
                self._guesses.wrong(f"the signature does not count: {fault}")
            await self._guesses.forget()

    async def set(self, line: str, path: str) -> str:
        """Sets the key and returns its fingerprint. Raises `Refused` where the line is none."""
        key = _parsed_key(line)
        if not path.startswith("/") or len(path) > LONGEST_PATH:
            raise Refused("bad_request", "key_file is the absolute path of the public key")
        await self._file.change(key=line, key_file=path)
        return key.fingerprint

    async def remove(self) -> None:
        """Removes the key."""
        await self._file.change(key="", key_file="")


def _parsed_key(line: str) -> PublicKey:
    try:
        return public_key(line)
    except WireFault as fault:
        raise Refused("bad_request", str(fault)) from None


SHORTEST_PIN = 6
LONGEST_PIN = 1_024
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
        """Checks the PIN; raises `Refused` for a wrong one, and while none is taken."""
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
        if not SHORTEST_PIN <= len(pin) <= LONGEST_PIN:
            raise Refused("bad_request", f"a PIN has {SHORTEST_PIN} to {LONGEST_PIN} characters")
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

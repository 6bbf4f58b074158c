"""The security key that unlocks a terminal: its public half, and the check of its signatures."""

from __future__ import annotations

import anyio.to_thread

from watchgate.core.decisions import Refused
from watchgate.core.presence.touch.public_key import PublicKey, public_key
from watchgate.core.presence.touch.signature import check_touch
from watchgate.core.presence.touch.wire import WireFault
from watchgate.service.identity.guesses import Guesses
from watchgate.service.identity.proof_file import ProofFile

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
        """Returns where the touched key signed this challenge; else raises `Refused`."""
        async with self._guesses.turn:
            line = self._file.proofs().key
            await self._guesses.begin()
            if not line:
                self._guesses.wrong("no security key is set")
            if challenge is None:
                self._guesses.wrong("this terminal has no challenge that could be signed now")
            key = _parsed(line)
            try:
                await anyio.to_thread.run_sync(check_touch, signature, key, challenge.encode())
            except WireFault as fault:
                self._guesses.wrong(f"the signature does not count: {fault}")
            await self._guesses.forget()

    async def set(self, line: str, path: str) -> str:
        """Sets the key and returns its fingerprint. Raises `Refused` where the line is none."""
        key = _parsed(line)
        if not path.startswith("/") or len(path) > LONGEST_PATH:
            raise Refused("bad_request", "key_file is the absolute path of the public key")
        await self._file.change(key=line, key_file=path)
        return key.fingerprint

    async def remove(self) -> None:
        """Removes the key."""
        await self._file.change(key="", key_file="")


def _parsed(line: str) -> PublicKey:
    try:
        return public_key(line)
    except WireFault as fault:
        raise Refused("bad_request", str(fault)) from None

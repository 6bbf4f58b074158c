"""Guesses at the proofs that unlock a terminal; PIN and security key count as one."""

from __future__ import annotations

from contextlib import suppress
from typing import NoReturn

import anyio
import anyio.to_thread

from watchgate.core.decisions import Refused
from watchgate.service.identity.tries import TRIES, Tries


class Guesses:
    """The guesses of all callers together.

    `turn` is held while one is checked: guesses at the same time would each be the fifth.
    """

    def __init__(self, tries: Tries) -> None:
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
        left = TRIES - self._tries.wrong
        raise Refused("wrong_pin", f"{why}; {left} more before a pause", wait_s=0)

    def _check_pause(self) -> None:
        if left_s := self._tries.left_s:
            words = f"{self._tries.wrong} wrong tries: none is taken for {left_s} s"
            raise Refused("wrong_pin", words, wait_s=left_s)

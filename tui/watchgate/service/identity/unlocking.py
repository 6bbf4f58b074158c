"""The terminals that were unlocked, the proof that did it, and codes for others to confirm."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from typing import Literal

import msgspec

from watchgate.core.clock import Clock
from watchgate.core.decisions import Refused
from watchgate.service.identity.standing import Chain, leader_of
from watchgate.service.process_table import Proc, is_alive

CODE_S = 120
CODE_DIGITS = 6
CHALLENGE_S = 120
CHALLENGE_BYTES = 32
WRONG_CODES = 3
MOST = 1_000

How = Literal["pin", "code", "key"]
Terminal = tuple[int, str, int]
"""A terminal: the pid and start of the process that leads it, and its number."""


class _Code(msgspec.Struct, frozen=True):
    code: str
    leader: Proc
    until_s: float


class _Challenge(msgspec.Struct, frozen=True):
    text: str
    until_s: float


class Unlocking:
    """The unlocked terminals of one core; all are locked again when it ends."""

    def __init__(self, clock: Clock, alive: Callable[[Proc], bool] = is_alive) -> None:
        self._clock = clock
        self._alive = alive
        self._open: dict[Terminal, tuple[Proc, How]] = {}
        self._codes: dict[Terminal, _Code] = {}
        self._challenges: dict[Terminal, _Challenge] = {}
        self._wrong = 0

    def method_of(self, chain: Chain) -> How | None:
        """Returns the proof that unlocked this client's terminal; None while it is locked."""
        leader = leader_of(chain)
        if leader is None or (unlocked := self._open.get(_terminal(leader))) is None:
            return None
        return unlocked[1] if self._alive(leader) else None

    def unlock(self, chain: Chain, method: How) -> Proc:
        """Unlocks this client's terminal; raises `Refused` where it has no leading process."""
        leader = self._leader(chain)
        self._open = {key: each for key, each in self._open.items() if self._alive(each[0])}
        if len(self._open) >= MOST:
            raise Refused(
                "bad_request", f"{MOST} terminals are unlocked: lock one (watchgate lock)"
            )
        self._open[_terminal(leader)] = leader, method
        return leader

    def lock(self, chain: Chain) -> bool:
        """Locks this client's terminal again; returns whether it was unlocked."""
        leader = leader_of(chain)
        return leader is not None and self._open.pop(_terminal(leader), None) is not None

    def lock_all(self, method: How | None = None) -> None:
        """Locks every terminal (that this `method` unlocked): the proof has changed."""
        self._open = {
            key: each
            for key, each in self._open.items()
            if method is not None and each[1] != method
        }
        self._codes.clear()
        self._challenges.clear()

    def challenge_for(self, chain: Chain) -> str:
        """Returns new random bytes for a security key to sign, as hex; earlier ones are void.

        Good once, for this client's terminal, and for so long as `CHALLENGE_S` says.
        """
        terminal = _terminal(self._leader(chain))
        now_s = self._clock.now().mono_s
        self._challenges = {k: each for k, each in self._challenges.items() if each.until_s > now_s}
        if len(self._challenges) >= MOST:
            raise Refused("bad_request", f"{MOST} terminals wait for a security key to be touched")
        made = _Challenge(secrets.token_hex(CHALLENGE_BYTES), now_s + CHALLENGE_S)
        self._challenges[terminal] = made
        return made.text

    def take_challenge(self, chain: Chain) -> str | None:
        """Returns and uses up the challenge of this client's terminal; None where none is open."""
        challenge = self._challenges.pop(_terminal(self._leader(chain)), None)
        if challenge is None or challenge.until_s <= self._clock.now().mono_s:
            return None
        return challenge.text

    def code_for(self, chain: Chain) -> str:
        """Returns a new code for this client's terminal; the one before is void."""
        leader = self._leader(chain)
        self._forget_late()
        if len(self._codes) >= MOST:
            raise Refused("bad_request", f"{MOST} terminals wait for a code to be confirmed")
        code = f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}d}"
        self._codes[_terminal(leader)] = _Code(code, leader, self._clock.now().mono_s + CODE_S)
        return code

    def confirm(self, code: str) -> Proc:
        """Unlocks the terminal that shows this code; a third wrong one in a row voids them all."""
        self._forget_late()
        hits = [each for each in self._codes.items() if _same(each[1].code, code)]
        if len(hits) != 1:
            self._wrong += 1
            if self._wrong >= WRONG_CODES:
                self._wrong = 0
                self._codes.clear()
            raise Refused(
                "unknown_code",
                "no terminal shows this code now: get a new one there (watchgate unlock --code)",
            )
        terminal, shown = hits[0]
        del self._codes[terminal]
        self._wrong = 0
        self._open[terminal] = shown.leader, "code"
        return shown.leader

    def _leader(self, chain: Chain) -> Proc:
        leader = leader_of(chain)
        if leader is None:
            raise Refused(
                "locked",
                "nobody can tell which terminal this is, as the process that leads it is gone: "
                "unlock a terminal of its own",
            )
        return leader

    def _forget_late(self) -> None:
        now_s = self._clock.now().mono_s
        self._codes = {
            key: each
            for key, each in self._codes.items()
            if each.until_s > now_s and self._alive(each.leader)
        }


def _terminal(leader: Proc) -> Terminal:
    return leader.pid, leader.start, leader.tty


def _same(code: str, other: str) -> bool:
    return hmac.compare_digest(code.encode(), other.encode("utf-8", "surrogatepass"))

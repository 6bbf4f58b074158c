"""The rights of a control client now: its standing towards the agents, and its proof.

The terminals that were unlocked, the proof that did it, and codes for others to confirm.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from watchgate.core.base.clock import Clock
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.sessions import SessionState
from watchgate.core.presence.proof import Proof
from watchgate.service.identity.agent_processes import AgentProcesses, Session
from watchgate.service.identity.sealed_files import TokenRegistry
from watchgate.service.identity.standing import (
    AgentSide,
    Ancestry,
    ClientStanding,
    leader_of,
    standing_of,
)
from watchgate.service.identity.unlock_proofs import Pin, TouchKey
from watchgate.service.system.process_table import Proc, is_alive

CODE_S = 120
CODE_DIGITS = 6
CHALLENGE_S = 120
CHALLENGE_BYTES = 32
WRONG_CODES = 3
MAX_TERMINALS = 1_000

UnlockMethod = Literal["pin", "code", "key"]
Terminal = tuple[int, str, int]
"""A terminal: the pid and start of the process that leads it, and its number."""


class _Code(msgspec.Struct, frozen=True):
    code: str
    leader: Proc
    until_s: float


class _Challenge(msgspec.Struct, frozen=True):
    text: str
    until_s: float


class UnlockedTerminals:
    """The unlocked terminals of one core; all are locked again when it ends."""

    def __init__(self, clock: Clock, alive: Callable[[Proc], bool] = is_alive) -> None:
        self._clock = clock
        self._alive = alive
        self._open: dict[Terminal, tuple[Proc, UnlockMethod]] = {}
        self._codes: dict[Terminal, _Code] = {}
        self._challenges: dict[Terminal, _Challenge] = {}
        self._wrong = 0

    def method_of(self, chain: Ancestry) -> UnlockMethod | None:
        """Returns the proof that unlocked this client's terminal; None while it is locked."""
        leader = leader_of(chain)
        if leader is None or (unlocked := self._open.get(_terminal(leader))) is None:
            return None
        return unlocked[1] if self._alive(leader) else None

    def unlock(self, chain: Ancestry, method: UnlockMethod) -> Proc:
        """Unlocks this client's terminal; returns its leading process, or raises `Refused`."""
        leader = self._leader(chain)
        self._open = {key: each for key, each in self._open.items() if self._alive(each[0])}
        if len(self._open) >= MAX_TERMINALS:
            raise Refused(
                "bad_request", f"{MAX_TERMINALS} terminals are unlocked: lock one (watchgate lock)"
            )
        self._open[_terminal(leader)] = leader, method
        return leader

    def lock(self, chain: Ancestry) -> bool:
        """Locks this client's terminal again; returns whether it was unlocked."""
        leader = leader_of(chain)
        return leader is not None and self._open.pop(_terminal(leader), None) is not None

    def lock_all(self, method: UnlockMethod | None = None) -> None:
        """Locks every terminal (that this `method` unlocked): the proof has changed."""
        self._open = {
            key: each
            for key, each in self._open.items()
            if method is not None and each[1] != method
        }
        self._codes.clear()
        self._challenges.clear()

    def challenge_for(self, chain: Ancestry) -> str:
        """Returns new random bytes for a security key to sign, as hex; earlier ones are void.

        Good once, for this client's terminal, and for so long as `CHALLENGE_S` says.
        """
        terminal = _terminal(self._leader(chain))
        now_s = self._clock.now().mono_s
        self._challenges = {k: each for k, each in self._challenges.items() if each.until_s > now_s}
        if len(self._challenges) >= MAX_TERMINALS:
            raise Refused(
                "bad_request", f"{MAX_TERMINALS} terminals wait for a security key to be touched"
            )
        made = _Challenge(secrets.token_hex(CHALLENGE_BYTES), now_s + CHALLENGE_S)
        self._challenges[terminal] = made
        return made.text

    def take_challenge(self, chain: Ancestry) -> str | None:
        """Returns and uses up the challenge of this client's terminal; None where none is open."""
        challenge = self._challenges.pop(_terminal(self._leader(chain)), None)
        if challenge is None or challenge.until_s <= self._clock.now().mono_s:
            return None
        return challenge.text

    def code_for(self, chain: Ancestry) -> str:
        """Returns a new code for this client's terminal; the one before is void."""
        leader = self._leader(chain)
        self._forget_late()
        if len(self._codes) >= MAX_TERMINALS:
            raise Refused(
                "bad_request", f"{MAX_TERMINALS} terminals wait for a code to be confirmed"
            )
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

    def _leader(self, chain: Ancestry) -> Proc:
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


QUIET_US = 86_400 * 1_000_000
"""A session without any record for a day is taken to be over."""


class CoreProcesses(msgspec.Struct, frozen=True, kw_only=True):
    """The core's own processes, as `AgentSide` has them; `scripted` says that no agent is real."""

    core_pid: int = 0
    starter: Proc | None = None
    scripted: bool = False


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """The secrets by which a person or a program proves itself, out of the sealed files."""

    pin: Pin
    key: TouchKey
    tokens: TokenRegistry


class Presences:
    """The standing and proof of each client, worked out at each verb: agents come and go.

    `unread` are the sessions that were open when this core started, of which it found no process.

    Args:
        askers: The agent processes that ask.
        sealed: The secrets.
        unlocking: The unlocked terminals.
        sessions: Returns the sessions that the core's state has.
        now_us: Returns the wall clock in UTC µs.
        own: The core's own processes.
        agents_unread: An earlier core's agents are not known, so any process may be an agent's.
    """

    def __init__(
        self,
        askers: AgentProcesses,
        *,
        sealed: Sealed,
        unlocking: UnlockedTerminals,
        sessions: Callable[[], Iterable[SessionView]],
        now_us: Callable[[], int],
        own: CoreProcesses,
        agents_unread: bool = False,
    ) -> None:
        self.pin = sealed.pin
        self.key = sealed.key
        self.tokens = sealed.tokens
        self.unlocking = unlocking
        self._askers = askers
        self._sessions = sessions
        self._now_us = now_us
        self._own = own
        self._agents_unread = agents_unread
        self.unread: set[Session] = self._unknown()

    def agent_side(self, request: str | None = None) -> AgentSide:
        """Returns the agents that count: for a request those that may have asked it, else all."""
        agents = self._askers.known(request)
        unknown = set() if self._own.scripted else self._unknown()
        return AgentSide(
            agents=agents,
            first=self._askers.first,
            core_pid=self._own.core_pid,
            starter=self._own.starter,
            unaccounted=self._agents_unread
            or bool(unknown & self.unread or (unknown and not agents)),
        )

    def standing_of(self, chain: Ancestry, request: str | None = None) -> ClientStanding:
        """Returns the standing of a client, whatever was unlocked."""
        return standing_of(chain, self.agent_side(request), decides=request is not None)

    def proof(self, chain: Ancestry, request: str | None = None) -> Proof:
        """Returns a client's standing and proofs."""
        standing = self.standing_of(chain, request)
        # One agent's commands are no person either who could allow another agent's calls.
        if request is not None and (everywhere := self.standing_of(chain)).standing == "below":
            standing = everywhere
        method = (
            self.unlocking.method_of(chain) if standing.standing in ("locked", "adrift") else None
        )
        return Proof(
            standing=method or standing.standing,
            why=standing.why,
            pin=self.pin.is_set,
            key=self.key.is_set,
            tty=bool(chain and chain[0].tty),
        )

    @property
    def nobody_asks(self) -> bool:
        """Returns whether no agent is known and no session open: only a person can be there."""
        side = self.agent_side()
        return not side.agents and not side.unaccounted

    def _unknown(self) -> set[Session]:
        """Returns the sessions that are open and asked a gate, by an unknown process."""
        since_us = self._now_us() - QUIET_US
        return {
            (view.agent, view.session)
            for view in self._sessions()
            if (view.gated or view.pending)
            and view.state is not SessionState.GONE
            and view.seen_at >= since_us
        } - self._askers.accounted.keys()

"""The rights of a control client now: its standing towards the agents, and its proof."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from watchgate.core.presence.proof import Proof
from watchgate.core.sessions import SessionState
from watchgate.core.views import SessionView
from watchgate.service.askers import Askers, Session
from watchgate.service.identity.pin import Pin
from watchgate.service.identity.standing import Chain, Side, Stand, stand
from watchgate.service.identity.tokens import Tokens
from watchgate.service.identity.touch_key import TouchKey
from watchgate.service.identity.unlocking import Unlocking
from watchgate.service.process_table import Proc

QUIET_US = 86_400 * 1_000_000
"""A session without any record for a day is taken to be over."""


class CoreProcesses(msgspec.Struct, frozen=True, kw_only=True):
    """The core's own processes, as `Side` has them; `scripted` says that no agent is real."""

    core_pid: int = 0
    starter: Proc | None = None
    scripted: bool = False


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """The secrets by which a person or a program proves itself, out of the sealed files."""

    pin: Pin
    key: TouchKey
    tokens: Tokens


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
        askers: Askers,
        *,
        sealed: Sealed,
        unlocking: Unlocking,
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

    def agent_side(self, request: str | None = None) -> Side:
        """Returns the agents that count: for a request those that may have asked it, else all."""
        agents = self._askers.known(request)
        unknown = set() if self._own.scripted else self._unknown()
        return Side(
            agents=agents,
            first=self._askers.first,
            core_pid=self._own.core_pid,
            starter=self._own.starter,
            unaccounted=self._agents_unread
            or bool(unknown & self.unread or (unknown and not agents)),
        )

    def standing_of(self, chain: Chain, request: str | None = None) -> Stand:
        """Returns the standing of a client, whatever was unlocked."""
        return stand(chain, self.agent_side(request), decides=request is not None)

    def proof(self, chain: Chain, request: str | None = None) -> Proof:
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

"""A client of the control socket, with its proofs and its name in records."""

from __future__ import annotations

import getpass
import os
from collections.abc import Awaitable, Callable
from typing import Any

from watchgate.core.decisions import Refused
from watchgate.core.presence.actor import LINKS_KEPT, Actor, Link
from watchgate.core.presence.proof import Proof
from watchgate.link.protocol import Request
from watchgate.service.identity.chains import terminal_name
from watchgate.service.identity.presence import Presences
from watchgate.service.outbox import Outbox
from watchgate.service.process_table import Proc


class Caller:
    """One control client: its process, its proofs and its queue of lines.

    `console` is set once it attached as one, behind which somebody decides.

    Args:
        number: Counts the clients of this core.
        pid: The peer's process.
        chain: The process and its ancestors.
        outbox: The lines to send.
        presences: Standing and proof of clients.
    """

    def __init__(
        self,
        *,
        number: int,
        pid: int,
        chain: tuple[Proc, ...],
        outbox: Outbox,
        presences: Presences,
    ) -> None:
        self.number = number
        self.pid = pid
        self.chain = chain
        self.outbox = outbox
        self.console = False
        self._presences = presences

    def proof(self, request: str | None = None) -> Proof:
        """Returns its proof by now, towards the askers of this request or else all agents."""
        return self._presences.proof(self.chain, request)

    @property
    def may_be_a_persons(self) -> bool:
        """Returns whether a person may sit behind it.

        One that was set adrift and not unlocked has none.
        """
        if self.proof().is_proven:
            return True
        standing = self._presences.standing_of(self.chain)
        return standing.standing != "below" and not standing.adopted

    def name(self, signed: str | None, proof: Proof | None = None, program: str = "") -> str:
        """Returns the signature of its decisions: an operator's only where that is proven.

        `program` is a registered one's name, where its token decided; it may sign for somebody.
        """
        if program:
            return f"program {program} (token)" + (f", signed {signed}" if signed else "")
        proof = proof or self.proof()
        if not proof.is_proven:
            return f"somebody (pid {self.pid}, unproven)"
        place = f"console {self.number}" if self.console else f"pid {self.pid}"
        return f"operator {signed or user()} ({place}, {proof.standing})"

    def actor(self, proof: Proof | None = None, program: str = "") -> Actor:
        """Returns the process as a record names it."""
        proof = proof or self.proof()
        own = self.chain[0] if self.chain else None
        proven = proof.standing if proof.is_proven else "unproven"
        return Actor(
            pid=self.pid,
            uid=os.getuid(),
            name=own.comm if own else "",
            tty=terminal_name(own.tty) if own else "",
            chain=tuple(Link(each.pid, each.start, each.comm) for each in self.chain[:LINKS_KEPT]),
            standing=f"token {program}" if program else proven,
        )


def user() -> str:
    """Returns the owner of this core; in a container its number may have no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


Do = Callable[[Request, Caller], Awaitable[dict[str, Any]]]
"""Carries one verb out; raises `Refused` and changes nothing where it will not."""


def operator_only(caller: Caller) -> Proof:
    """Returns the caller's proof; raises `Refused` for one that may work for an agent."""
    proof = caller.proof()
    if bar := proof.bar_to_operate():
        raise Refused(*bar)
    return proof


def named(request: Request) -> str:
    """Returns the request's id; raises `Refused` where none is named."""
    if not request.request:
        raise Refused("bad_request", f"{request.verb} needs the id of a request")
    return request.request

"""Who asks over the control socket, and what a verb is."""

from __future__ import annotations

import getpass
import os
from collections.abc import Awaitable, Callable
from typing import Any

from watchgate.core.decisions import IN_YOURS, NOT_YOURS, Refused
from watchgate.link.protocol import Request
from watchgate.service.askers import Askers
from watchgate.service.outbox import Outbox
from watchgate.service.process_table import Proc


class Caller:
    """One control client: who it is, and where its lines go.

    `console` is set once it attached as one, behind which somebody decides.
    """

    def __init__(self, *, number: int, pid: int, chain: tuple[Proc, ...], outbox: Outbox) -> None:
        self.number = number
        self.pid = pid
        self.chain = chain
        self.outbox = outbox
        self.console = False

    def name(self, signed: str | None) -> str:
        """How its decisions are signed."""
        place = f"console {self.number}" if self.console else f"pid {self.pid}"
        return f"operator {signed or user()} ({place})"


def user() -> str:
    """Whom this core belongs to; in a container its number may have no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


Do = Callable[[Request, Caller], Awaitable[dict[str, Any]]]
"""Carries one verb out; raises `Refused` and changes nothing where it will not."""


def operator_only(askers: Askers, caller: Caller) -> None:
    """Raise `Refused` for whoever may work for an agent."""
    if not askers.may_switch(caller.chain):
        raise Refused("self_approval", f"{NOT_YOURS}: do it {IN_YOURS}")


def named(request: Request) -> str:
    """The request that is meant; raises `Refused` where none is."""
    if not request.request:
        raise Refused("bad_request", f"{request.verb} needs the id of a request")
    return request.request

"""Several cores watched by one console: the connection to each, and what belongs to which.

A session, a request or a grant of host `lab2` is known as `lab2/ID`, and a session's label is
`lab2:LABEL`; with a single core there are no hosts, and nothing is renamed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Literal

import msgspec

from watchgate.core.model.views import GateView
from watchgate.core.state.gate_folds import is_off


class HostView(msgspec.Struct, frozen=True, kw_only=True):
    """The connection to the core of one machine; times are UTC µs by this machine's clock.

    `since` is when it came to be so, `retry_at` when a lost one is tried again for the `tries`th
    time, `why` the reason. `waiting` requests were open there when it was lost, and wait there.
    `local` is the machine that the console runs on.
    """

    name: str
    state: Literal["connecting", "attached", "lost"] = "connecting"
    since: int = 0
    tries: int = 0
    retry_at: int = 0
    why: str = ""
    waiting: int = 0
    local: bool = False
    gate: GateView = GateView()

    @property
    def here(self) -> bool:
        """True while the host's core is attached."""
        return self.state == "attached"


def name_on_host(host: str, id: str) -> str:
    """Returns the name, on a console of several cores, of what is `id` on a host: `host/id`."""
    return f"{host}/{id}"


def host_and_id(name: str) -> tuple[str, str]:
    """Splits a name into its host and the id there; what was not renamed has no id."""
    host, _, id = name.partition("/")
    return host, id


def own_id(name: str) -> str:
    """Returns the id that a core gave, with or without a host before it."""
    return name.rpartition("/")[2]


def host_among(hosts: Container[str], session: str) -> str:
    """Returns the host of a session; empty where it is none of these, as with a single core."""
    name, _ = host_and_id(session)
    return name if name in hosts else ""


def common_gate(hosts: Iterable[HostView], at: int) -> GateView:
    """Returns the gate state that all attached hosts share; what differs, each host shows itself.

    It is off only while every host's gate is off, and its end is the earliest of theirs.
    """
    every = list(hosts)
    attached = [host for host in every if host.here] or every
    if not attached:
        return GateView()
    gate = GateView(profile=attached[0].gate.profile)
    if not all(is_off(host.gate, at) for host in attached):
        return gate
    ends = [host.gate.off_until for host in attached if host.gate.off_until]
    return msgspec.structs.replace(
        gate, off_until=min(ends, default=0), off_by=attached[0].gate.off_by
    )

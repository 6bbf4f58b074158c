"""The standing of a control client towards the agents, from its ancestors alone.

Trust is not age by itself. A client is `clear` where no agent can have had it started: nothing
between it and the first process of the system is younger than the agent at a joint where a process
of another's making may hang, and nothing above it starts commands for whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

import msgspec

from watchgate.service.identity.ancestry import (
    adopts,
    hands_on,
    is_below,
    is_init,
    name_of,
    opens_terminals,
    starts_for_others,
)
from watchgate.service.system.process_table import Proc, began

Ancestry = tuple[Proc, ...]
NOBODY_KNOWS = "nobody can tell what started it"


class AgentSide(msgspec.Struct, frozen=True, kw_only=True):
    """The agents that a client is held against.

    `agents` are each a living agent's chain, which begins with the agent; `first` is the one that
    began before all others since the machine was started, whether or not it lives. What runs below
    the process `core_pid` is the core's; `starter` is that process where it starts handlers that
    may get away from it. `unaccounted` says that a session is open whose process nobody knows.
    """

    agents: tuple[Ancestry, ...] = ()
    first: Proc | None = None
    core_pid: int = 0
    starter: Proc | None = None
    unaccounted: bool = False

    @property
    def oldest(self) -> float:
        """The start of the first agent, as `began` returns it."""
        return min((began(chain[0]) for chain in self.agents), default=float("inf"))


class ClientStanding(msgspec.Struct, frozen=True):
    """The standing of a client, and in words why it is not better.

    `adopted` says that whoever started it is gone.
    """

    standing: Literal["clear", "locked", "adrift", "below"]
    why: str = ""
    adopted: bool = False


def standing_of(chain: Ancestry, side: AgentSide, *, decides: bool = False) -> ClientStanding:
    """Returns the standing of the chain's first process; stricter where it `decides` on a call.

    A client without a terminal has nobody in front of it: it may be clear for what a script of the
    operator's switches, but not for letting a call run, where anything above it is above an agent.
    """
    if why := _below(chain, side):
        return ClientStanding("below", why)
    adrift = _adrift(chain, side)
    watched = bool(side.agents) or side.unaccounted
    if adrift or (watched and _is_orphan(chain)):
        return ClientStanding(
            "adrift", "whoever started it is gone, and that may be an agent", True
        )
    if not watched:
        return ClientStanding("clear")
    why = _locked(chain, side)
    if not why and decides and not chain[0].tty and (shared := _shared(chain, side, 1)):
        why = f"{shared} started both it and the agent"
    if not why:
        return ClientStanding("clear")
    if not chain[0].tty:
        return ClientStanding("adrift", f"it has no terminal of its own, and {why}")
    return ClientStanding("locked", why)


def leader_of(chain: Ancestry) -> Proc | None:
    """Returns the first process of the client's terminal, with an unbroken way to the client.

    None where that process is gone or adopts what loses its parent: then nobody can tell who is
    whose. Where the system tells no sessions it is the first one of the same terminal.
    """
    if not chain:
        return None
    end = next((n for n, one in enumerate(chain) if one.sid and one.pid == chain[0].sid), None)
    if end is None and not chain[0].sid and chain[0].tty:
        end = next((n for n, one in enumerate(chain) if one.tty != chain[0].tty), len(chain)) - 1
    if end is None or any(adopts(above, below) for below, above in pairwise(chain[: end + 1])):
        return None
    return chain[end]


def _below(chain: Ancestry, side: AgentSide) -> str:
    if not chain:
        return NOBODY_KNOWS
    if any(is_below(chain, agent[0]) for agent in side.agents):
        return "it runs below an agent"
    # The core's hooks may lie where an agent writes.
    if side.core_pid in {each.pid for each in chain[1:]}:
        return "it runs below the core, as its handlers do"
    return ""


def _adrift(chain: Ancestry, side: AgentSide) -> bool:
    starters = [agent[0] for agent in side.agents]
    if side.starter is not None:
        # A handler that detached itself stays behind, older than the agents that come after it.
        starters.append(side.starter)
    if side.first is not None:
        # What an agent left behind waits for the agents that come after it.
        starters.append(side.first)
    return any(
        _may_be_of(starter, below, above)
        for below, above in pairwise(chain)
        if adopts(above, below)
        for starter in starters
    )


def _may_be_of(starter: Proc, root: Proc, adopter: Proc) -> bool:
    """Returns whether the starter may have started this branch.

    It may where it is not younger, and the process that took the branch in is not younger either.
    """
    if root.vouched or began(root) < began(starter):
        return False
    return not began(adopter) > began(starter)


def _is_orphan(chain: Ancestry) -> bool:
    return len(chain) > 1 and adopts(chain[1], chain[0])


def _locked(chain: Ancestry, side: AgentSide) -> str:
    """Returns the reason an agent may have acted in this terminal; empty where none can."""
    for process in chain[1:]:
        if words := starts_for_others(process):
            return f"{words}, where an agent could start a command too"
        if process.from_here:
            return "it is an ssh login from this machine, which an agent could make too"
    if runs := _runs_others(chain):
        return f"{runs} started it, and runs what files say that an agent may write"
    leader = leader_of(chain)
    above = chain.index(leader) + 1 if leader is not None else 1
    if not _is_older_terminal(chain, side) and (shared := _shared(chain, side, above)):
        return f"{shared} started both it and the agent, and starts what the agent asks for"
    if any(began(each) >= side.oldest for each in _joints(chain)):
        return "it was opened after an agent was started"
    if side.unaccounted:
        return "an agent's session is open, and nobody knows by which process"
    return ""


def _runs_others(chain: Ancestry) -> str:
    """Returns the program between the client and its shell that runs other people's files.

    A server that reloads, a test runner, git with its hooks: older than the agent, and at its word.
    """
    leader = leader_of(chain)
    if leader is None:
        return ""
    between = chain[1 : chain.index(leader) + 1]
    return next((name_of(each) for each in between if not hands_on(each)), "")


def _is_older_terminal(chain: Ancestry, side: AgentSide) -> bool:
    """Returns whether the client runs in a terminal of its own, open before any agent.

    Whatever opened it, an agent's commands get there by typing alone, as into any other window.
    """
    leader = leader_of(chain)
    if leader is None or not leader.tty or began(leader) >= side.oldest:
        return False
    return all(each.tty != leader.tty for each in chain[chain.index(leader) + 1 :])


def _shared(chain: Ancestry, side: AgentSide, start: int) -> str:
    """Returns the first program from `start` on that is above an agent and opens no terminals."""
    agents = {each.key for agent in side.agents for each in agent[1:]}
    return next(
        (
            name_of(each)
            for each in chain[start:]
            if each.key in agents and not (is_init(each) or opens_terminals(each))
        ),
        "",
    )


def _joints(chain: Ancestry) -> Iterator[Proc]:
    """Yields each process that another one than its parent's own run may have started."""
    for below, above in pairwise(chain):
        is_leader = below.sid == below.pid if below.sid else below.tty != above.tty
        of_daemon = bool(above.sid) and above.sid == above.pid and not above.tty
        if is_leader or of_daemon or adopts(above, below) or opens_terminals(above):
            yield below
    if chain[-1].pid != 1:
        yield chain[-1]  # the way up ends at what entered a container, or at what is hidden

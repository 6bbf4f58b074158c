"""Who is at the other end of a socket, and below which agent that process runs.

The kernel names the peer; its ancestors are read once, at accept, while they still live. Against
a hostile process of the same user this is a hurdle, not a wall.
"""

from __future__ import annotations

import socket
import struct
import sys

import msgspec

from watchgate.service.process_table import Proc, ancestors
from watchgate.service.shell_words import is_working_shell

__all__ = ["INITS", "Peer", "Proc", "agent_of", "ancestors", "credentials", "is_below"]

INITS = frozenset({"init", "systemd", "launchd", "tini", "dumb-init", "docker-init", "catatonit"})
"""Names of first processes, of the system or of a user: what is orphaned becomes their child."""

WSL_RELAY = "Relay("
"""How the name of WSL's own process begins that stands above each terminal, and adopts there."""

# From <sys/un.h> and <sys/ucred.h> of macOS, which the socket module does not name.
_SOL_LOCAL = 0
_LOCAL_PEERCRED = 1
_LOCAL_PEERPID = 2
_XUCRED = struct.Struct("@IIh16I")
_UCRED = struct.Struct("@iII")


class Peer(msgspec.Struct, frozen=True):
    """The process that connected; `pid` is 0 where it has no number here (another container)."""

    pid: int
    uid: int
    gid: int


def credentials(connection: socket.socket) -> Peer:
    """The kernel's word on who connected; raises `OSError` when it has none."""
    if sys.platform == "darwin":
        _, uid, _, gid, *_ = _XUCRED.unpack(
            connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED.size)
        )
        try:
            pid = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID)
        except OSError:
            pid = 0
        return Peer(pid, uid, gid)
    return Peer(
        *_UCRED.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    )


def agent_of(chain: tuple[Proc, ...]) -> Proc | None:
    """The agent that a hook client works for: the first above it that is no shell doing a command.

    `chain` begins with the client itself. None when the way up is lost: an empty chain, or nothing
    left but what adopts orphans. Taken for the agent, that would make agents of all terminals.
    """
    for number, process in enumerate(chain[1:], 1):
        if not is_working_shell(process.cmd, process.comm):
            return None if _adopts_all(chain[number:]) else process
    return None


def is_below(chain: tuple[Proc, ...], agent: Proc) -> bool:
    """Whether the process at the beginning of `chain` is the agent or was started below it.

    An empty chain is below nobody: who may not be known may not decide, and the caller asks that
    first.
    """
    return any((one.pid, one.start) == (agent.pid, agent.start) for one in chain)


def _adopts_all(chain: tuple[Proc, ...]) -> bool:
    """Whether only first processes are left, the user's below the system's, or WSL's own."""
    first = all(one.comm in INITS for one in chain) and chain[-1].pid == 1
    return first or chain[0].comm.startswith(WSL_RELAY)

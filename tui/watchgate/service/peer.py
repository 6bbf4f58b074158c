"""The process at the other end of a socket, and the agent above it.

The kernel names the peer; its ancestors are read once, at accept, while they still live. Against a
hostile process of the same user this is a hurdle, not a wall.
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
"""The beginning of the name of WSL's process above each terminal, which adopts orphans there."""

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
    """Returns the process that connected; raises `OSError` when the kernel does not name it."""
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
    """Returns the agent above a hook client: the first process that is no shell doing a command.

    `chain` begins with the client itself. None when the way up is lost: an empty chain, or nothing
    left but what adopts orphans. Taken for the agent, that would make agents of all terminals.
    """
    for number, process in enumerate(chain[1:], 1):
        if not is_working_shell(process.cmd, process.comm):
            return None if _adopts_all(chain[number:]) else process
    return None


def is_below(chain: tuple[Proc, ...], agent: Proc) -> bool:
    """Returns whether the process at the beginning of `chain` is the agent or below it.

    An empty chain is below nobody: who may not be known may not decide, and the caller asks that
    first.
    """
    return any((one.pid, one.start) == (agent.pid, agent.start) for one in chain)


def _adopts_all(chain: tuple[Proc, ...]) -> bool:
    """Returns whether only first processes are left: the system's, the user's or WSL's own."""
    first = all(one.comm in INITS for one in chain) and chain[-1].pid == 1
    return first or chain[0].comm.startswith(WSL_RELAY)

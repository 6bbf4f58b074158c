"""A client's ancestors with all fields that its standing depends on, read once from the system."""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from pathlib import Path, PurePath

import msgspec

from watchgate.service.identity.programs import WINDOWS, is_init
from watchgate.service.process_table import Proc, ancestors

# How a desktop starts a terminal program that hands out its windows; it opens none by itself.
_AS_SERVICE = ("--gapplication-service",)
_ENVIRON_BYTES = 256 * 1024


def chain_of(pid: int) -> tuple[Proc, ...]:
    """Returns the process and its ancestors, with their programs; empty where some are hidden."""
    return described(ancestors(pid))


def described(chain: tuple[Proc, ...]) -> tuple[Proc, ...]:
    """Returns the chain with the fields of `Proc` that only this module fills in."""
    if not chain:
        return ()
    described = [
        msgspec.structs.replace(
            below,
            program=_program(below),
            vouched=adopts(above, below) and (_is_anothers(below) or _is_window(below)),
            from_here=_is_login(above, below) and _came_from_here(below),
        )
        for below, above in pairwise(chain)
    ]
    return (*described, msgspec.structs.replace(chain[-1], program=_program(chain[-1])))


def adopts(above: Proc, below: Proc) -> bool:
    """Returns whether `below` may have lost its parent and become a child of `above`.

    A first process adopts. So does any that asks the system to, which shows where a process that
    leads no session is not in its parent's.
    """
    if is_init(above):
        return True
    return bool(below.sid) and below.sid not in (below.pid, above.sid)


def terminal_name(tty: int) -> str:
    """Returns a terminal's usual name by its number in `/proc/PID/stat`: "pts/3"."""
    if not tty:
        return ""
    if sys.platform == "darwin":
        return f"ttys{tty - 1:03d}"
    major, minor = os.major(tty), os.minor(tty)
    if 136 <= major <= 143:
        return f"pts/{(major - 136) * 256 + minor}"
    return f"tty{minor}" if major == 4 else f"{major}:{minor}"


def _program(process: Proc) -> str:
    try:
        return Path(f"/proc/{process.pid}/exe").readlink().name.removesuffix(" (deleted)")
    except OSError:
        # Of others, and where there is no /proc, its own word has to do.
        return PurePath(process.cmd[0]).name.lstrip("-") if process.cmd else ""


def _is_anothers(process: Proc) -> bool:
    """Returns whether its real user is another: whatever an agent starts keeps the agent's."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text("utf-8", "replace")
    except OSError:
        return False
    users = next((line for line in status.splitlines() if line.startswith("Uid:")), "").split()
    return len(users) > 1 and int(users[1]) != os.getuid()


def _is_window(process: Proc) -> bool:
    # `xterm -e COMMAND` runs what it is told; `kitty +runpy` does not even open a window.
    if not process.cmd or process.cmd[1:] not in ((), _AS_SERVICE):
        return False
    if sys.platform != "linux":
        return PurePath(process.cmd[0]).name in WINDOWS
    # A process chooses its own name and argv, but not the file that it runs.
    executable = Path(f"/proc/{process.pid}/exe")
    try:
        return executable.stat().st_uid == 0 and executable.readlink().name in WINDOWS
    except OSError:
        return False


def _is_login(above: Proc, below: Proc) -> bool:
    return above.comm.startswith("sshd") and not below.comm.startswith("sshd")


def _came_from_here(process: Proc) -> bool:
    """Returns whether this ssh login came from this machine, or from an unknown place."""
    try:
        with Path(f"/proc/{process.pid}/environ").open("rb") as file:
            variables = file.read(_ENVIRON_BYTES).split(b"\0")
    except OSError:
        return True
    connection = next((each for each in variables if each.startswith(b"SSH_CONNECTION=")), b"")
    match connection.partition(b"=")[2].split():
        case [client, _, server, _]:
            return client in (server, b"::1") or client.startswith((b"127.", b"::ffff:127."))
    return True

"""The processes above a process, as this platform tells them."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime

import msgspec

_DEEPEST = 1_024
_TRIES = 3
# Of the fields after the name in /proc/PID/stat: its 6th and 22nd in all.
_SESSION_FIELD = 3
_START_FIELD = 19
_CMD_BYTES = 4_096
_PS_TIME = "%a %b %d %H:%M:%S %Y"


class Proc(msgspec.Struct, frozen=True):
    """One process; `start` is, with the pid, equal only for the very same process.

    `comm` is the kernel's name of it, `cmd` its argv as far as that can be read, `sid` its session,
    0 where that is not told. `vouched` says that no agent can have started it.
    """

    pid: int
    start: str
    comm: str
    cmd: tuple[str, ...] = ()
    sid: int = 0
    vouched: bool = False


HIDDEN_INIT = Proc(1, "0", "init")
"""Stands for the system's first process where it is hidden."""


def itself(pid: int) -> Proc | None:
    """The process with this pid, None where it cannot be told: whoever drives agents below it."""
    return next(iter(ancestors(pid)), None)


def ancestors(pid: int) -> tuple[Proc, ...]:
    """The process itself, its parent and so on up to the first one of the system.

    Empty for pid 0, for a process that is gone, and when the way up could not be followed to its
    end: a part of it would hide an agent above. It ends early only below a process of another
    user that the system does not show (`hidepid`).
    """
    if pid <= 0:
        return ()
    if sys.platform == "darwin":
        return _from_ps(pid)
    for _ in range(_TRIES):
        # A process that ends during the walk hands its children to another parent.
        chain = _from_proc(pid)
        if chain:
            return chain
    return ()


def is_alive(process: Proc) -> bool:
    """Whether this very process is still there."""
    try:
        if sys.platform == "darwin":
            os.kill(process.pid, 0)
            return True
        return parse_stat(_content(f"/proc/{process.pid}/stat"))[-1] == process.start
    except OSError:
        return False


def began(process: Proc) -> float:
    """When it was started, comparable with others of this machine; the far future if not known."""
    if process.start.isdecimal():
        return int(process.start)  # clock ticks
    try:
        return datetime.strptime(process.start, _PS_TIME).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return float("inf")


def parse_stat(stat: bytes) -> tuple[str, int, int, str]:
    """Name, parent, session and start of `/proc/PID/stat`; a name may hold blanks and brackets."""
    before, _, after = stat.rpartition(b")")
    fields = after.split()
    name = before.partition(b"(")[2].decode("utf-8", "surrogateescape")
    return name, int(fields[1]), int(fields[_SESSION_FIELD]), fields[_START_FIELD].decode("ascii")


def parse_ps(listing: str, pid: int) -> tuple[Proc, ...]:
    """The chain above `pid` in the output of `ps -axo pid=,ppid=,lstart=,command=`.

    Empty unless it reaches the system's first process. Arguments are cut at blanks there, which
    is enough to tell a shell's options.
    """
    table: dict[int, tuple[int, Proc]] = {}
    for line in listing.splitlines():
        words = line.split(None, 7)
        if len(words) < 8 or not (words[0].isdecimal() and words[1].isdecimal()):
            continue
        cmd = tuple(words[7].split())
        own = Proc(int(words[0]), " ".join(words[2:7]), cmd[0].rpartition("/")[2], cmd)
        table[own.pid] = (int(words[1]), own)
    chain: list[Proc] = []
    while pid in table and len(chain) < _DEEPEST:
        pid, own = table[pid]
        chain.append(own)
    return tuple(chain) if pid == 0 else ()


def _from_proc(pid: int) -> tuple[Proc, ...]:
    chain: list[Proc] = []
    while pid > 0:
        try:
            name, parent, sid, start = parse_stat(_content(f"/proc/{pid}/stat"))
            cmd = _content(f"/proc/{pid}/cmdline")
        except OSError:
            if not _is_hidden(pid):
                return ()
            # Of what is hidden only this one has to be known: it adopts orphans.
            return (*chain, HIDDEN_INIT) if pid == 1 else tuple(chain)
        words = cmd.decode("utf-8", "surrogateescape").rstrip("\0").split("\0") if cmd else ()
        chain.append(Proc(pid, start, name, tuple(words), sid))
        if len(chain) > _DEEPEST:
            return ()
        pid = parent
    return tuple(chain)


def _is_hidden(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except ProcessLookupError:
        return False
    return False


def _content(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _CMD_BYTES)
    finally:
        os.close(descriptor)


def _from_ps(pid: int) -> tuple[Proc, ...]:
    try:
        listing = subprocess.run(
            ["/bin/ps", "-axo", "pid=,ppid=,lstart=,command="],
            capture_output=True,
            check=True,
            timeout=5,
            # The start of a process must read the same wherever the machine travels.
            env={"LC_ALL": "C", "TZ": "UTC0"},
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return parse_ps(listing.stdout.decode("utf-8", "surrogateescape"), pid)

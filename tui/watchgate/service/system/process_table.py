"""A process and its ancestors, as this platform shows them."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

PROC = Path("/proc")
_DEEPEST = 1_024
_TRIES = 3
# Of the fields after the name in /proc/PID/stat: its 6th, 7th and 22nd in all.
_SESSION_FIELD = 3
_TTY_FIELD = 4
_START_FIELD = 19
_CMD_BYTES = 4_096
_PS_TIME = "%a %b %d %H:%M:%S %Y"


class Proc(msgspec.Struct, frozen=True):
    """One process; `start` is, with the pid, equal only for the very same process.

    `comm` is the kernel's name of it, `cmd` its argv as far as that can be read, `sid` its session,
    0 where that is not told. `tty` is the number of its controlling terminal, 0 without one.
    `vouched` says that no agent can have started it unseen, `program` which file it runs (its name
    alone), and `from_here` that it is an ssh login from this very machine; `identity.chains` reads
    these three.
    """

    pid: int
    start: str
    comm: str
    cmd: tuple[str, ...] = ()
    sid: int = 0
    tty: int = 0
    vouched: bool = False
    program: str = ""
    from_here: bool = False

    @property
    def key(self) -> tuple[int, str]:
        """A pair that is equal only for the very same process."""
        return self.pid, self.start


HIDDEN_INIT = Proc(1, "0", "init")
"""Stands for the system's first process where it is hidden."""


def itself(pid: int) -> Proc | None:
    """Returns the process with this pid, None where it cannot be read."""
    return next(iter(ancestors(pid)), None)


def ancestors(pid: int) -> tuple[Proc, ...]:
    """Returns the process itself, its parent and so on up to the first one of the system.

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
    """Returns whether this very process is still there."""
    try:
        if sys.platform == "darwin":
            os.kill(process.pid, 0)
            return True
        return parse_stat(_content(f"/proc/{process.pid}/stat")).start == process.start
    except OSError:
        return False


def began(process: Proc) -> float:
    """Returns the time of its start, comparable on this machine; infinite where not known."""
    if process.start.isdecimal():
        return int(process.start)  # clock ticks
    try:
        return datetime.strptime(process.start, _PS_TIME).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return float("inf")


class Stat(NamedTuple):
    """The fields of `/proc/PID/stat`: name, parent, session, start and controlling terminal."""

    name: str
    parent: int
    sid: int
    start: str
    tty: int


def parse_stat(stat: bytes) -> Stat:
    """Reads `/proc/PID/stat`; a name may hold blanks and brackets."""
    before, _, after = stat.rpartition(b")")
    fields = after.split()
    name = before.partition(b"(")[2].decode("utf-8", "surrogateescape")
    sid, tty = int(fields[_SESSION_FIELD]), int(fields[_TTY_FIELD])
    return Stat(name, int(fields[1]), sid, fields[_START_FIELD].decode("ascii"), tty)


def parse_ps(listing: str, pid: int) -> tuple[Proc, ...]:
    """Returns the chain above `pid` in the output of `ps -axo pid=,ppid=,tty=,lstart=,command=`.

    Empty unless it reaches the system's first process. Arguments are cut at blanks there, which is
    enough for a shell's options. The listing has the terminal, but not the session.
    """
    table: dict[int, tuple[int, Proc]] = {}
    for line in listing.splitlines():
        words = line.split(None, 8)
        if len(words) < 9 or not (words[0].isdecimal() and words[1].isdecimal()):
            continue
        cmd = tuple(words[8].split())
        name, tty = cmd[0].rpartition("/")[2], _terminal(words[2])
        own = Proc(int(words[0]), " ".join(words[3:8]), name, cmd, tty=tty)
        table[own.pid] = (int(words[1]), own)
    chain: list[Proc] = []
    while pid in table and len(chain) < _DEEPEST:
        pid, own = table[pid]
        chain.append(own)
    return tuple(chain) if pid == 0 else ()


def _terminal(name: str) -> int:
    """Returns a number for a terminal as `ps` names it ("ttys003"); 0 for "??", which is none."""
    if name.startswith("?"):
        return 0
    return int("".join(filter(str.isdecimal, name)) or 0) + 1


def _from_proc(pid: int) -> tuple[Proc, ...]:
    chain: list[Proc] = []
    while pid > 0:
        try:
            stat = parse_stat(_content(f"/proc/{pid}/stat"))
            cmd = _content(f"/proc/{pid}/cmdline")
        except OSError:
            if not _is_hidden(pid):
                return ()
            # Of what is hidden only this one has to be known: it adopts orphans.
            return (*chain, HIDDEN_INIT) if pid == 1 else tuple(chain)
        words = cmd.decode("utf-8", "surrogateescape").rstrip("\0").split("\0") if cmd else ()
        chain.append(Proc(pid, stat.start, stat.name, tuple(words), stat.sid, stat.tty))
        if len(chain) > _DEEPEST:
            return ()
        pid = stat.parent
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
            ["/bin/ps", "-axo", "pid=,ppid=,tty=,lstart=,command="],
            capture_output=True,
            check=True,
            timeout=5,
            # The start of a process must read the same wherever the machine travels.
            env={"LC_ALL": "C", "TZ": "UTC0"},
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return parse_ps(listing.stdout.decode("utf-8", "surrogateescape"), pid)

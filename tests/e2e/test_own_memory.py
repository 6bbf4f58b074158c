"""No process of the same user reads or traces a core or a console; what they start may be again."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="macOS has no such switch"),
    pytest.mark.usefixtures("core"),
]

# As root everything may be read, but for whoever has given up CAP_SYS_PTRACE (19).
WITHOUT = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(24, 19, 0, 0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
PLAIN = [sys.executable, "-c", WITHOUT]
PEEK = """
import sys
try:
    open(f"/proc/{sys.argv[1]}/mem", "rb").close()
    print("open")
except PermissionError:
    print("closed")
"""
STARTS = """
import subprocess, sys
from watchgate.service.system.process_limits import close_own_memory
assert close_own_memory()
open("/proc/self/environ", "rb").read(1)
subprocess.run([sys.executable, "-c", "print('up', flush=True); input()"], check=True)
"""
WATCHGATE = [*PLAIN, "-m", "watchgate"]


def peeked(pid: int) -> str:
    """What another process of our user gets of this one."""
    done = subprocess.run([*PLAIN, "-c", PEEK, str(pid)], capture_output=True, check=True)
    return done.stdout.decode().strip()


def child_of(pid: int) -> int:
    with open(f"/proc/{pid}/task/{pid}/children") as children:  # noqa: PTH123 - a file of a process
        return int(children.read().split()[0])


def test_any_other_process_can_be_read_by_its_user() -> None:
    words = [*PLAIN, "-c", "print('up', flush=True); input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"up\n"
        assert peeked(other.pid) == "open"
        other.kill()


def test_a_core_and_a_console_are_closed_to_others_of_their_user() -> None:
    with subprocess.Popen([*WATCHGATE, "serve"], stdout=subprocess.PIPE) as core:
        assert core.stdout is not None
        assert b'"ready":true' in core.stdout.readline()
        assert peeked(core.pid) == "closed"
        master, slave = pty.openpty()
        with subprocess.Popen(
            [*WATCHGATE, "attach"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        ) as console:
            os.close(slave)
            shown = b""
            while b"Monitor" not in shown:
                shown += os.read(master, 65_536)
            assert peeked(console.pid) == "closed"
            os.close(master)
        core.terminate()


def test_what_a_closed_process_starts_is_open_again() -> None:
    with subprocess.Popen(
        [*PLAIN, "-c", STARTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as closed:
        assert closed.stdout is not None
        assert closed.stdout.readline() == b"up\n"
        assert peeked(closed.pid) == "closed"
        assert peeked(child_of(closed.pid)) == "open"
        closed.communicate(b"\n")

"""Runs one hook command from its start to its last byte, in a worker thread, under one deadline.

Input is written while both outputs are drained, so no order in which a child reads and writes can
stop it. Nothing it started outlives the call: the whole process group is killed, also after a
proper exit, and the leader is reaped.

- Keeps both ends of a child's output: the middle of a flood is counted and let go.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from typing import Final, Literal

import msgspec

from watchgate.service.runners.descendants import kill_sessions, sessions_below
from watchgate.service.runners.spawn import (
    ChildSpec,
    SpawnError,
    StartedChild,
    signal_name,
    start_child,
)

SHOWN_CHARS: Final = 2_000
_MARK_CHARS: Final = 40


class HeadTail:
    """Keeps the first and the last half of `cap_bytes`, and counts everything."""

    def __init__(self, cap_bytes: int) -> None:
        self._head_cap = cap_bytes - cap_bytes // 2
        self._tail_cap = cap_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        """Takes the next bytes read."""
        self.size += len(data)
        room = self._head_cap - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail += data
            # Trimmed at twice its size, so that a flood is not copied for every read.
            if len(self._tail) > 2 * self._tail_cap:
                self._trim()

    def content(self) -> bytes:
        """Returns head and tail, one after the other; all of it where it fits the cap."""
        self._trim()
        return bytes(self._head + self._tail)

    def _trim(self) -> None:
        del self._tail[: max(0, len(self._tail) - self._tail_cap)]


def head_and_tail(output: bytes, size: int, max_chars: int) -> str:
    """Returns output as text of at most `max_chars`: both ends, and how much is left out.

    What is no UTF-8 is shown as escapes. `size` counts all bytes, those that were not kept too.
    """
    if size == len(output) and size <= 4 * max_chars:
        text = output.decode(errors="backslashreplace")
        if len(text) <= max_chars:
            return text
    end = (max_chars - _MARK_CHARS) // 2
    # No character has more than four bytes, so what a cut breaks lies beyond the part that is used.
    head = output[: 4 * end].decode(errors="backslashreplace")[:end]
    tail = output[-4 * end :].decode(errors="backslashreplace")[-end:]
    left_out = size - len(head.encode()) - len(tail.encode())
    return f"{head}\n[{max(0, left_out):,} bytes left out]\n{tail}"


LINGER_S: Final = 0.25
"""Seconds to wait for output after the exit, for what a child of the child still writes."""

REAP_S: Final = 2.0
LOOK_S: Final = 0.005
CHUNK_BYTES: Final = 1 << 16

Why = Literal["exited", "timeout", "cancelled", "spawn"]


class ChildEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a child process, with its outputs.

    `why` spawn means that it never ran and `detail` says why; a timeout before the limit says in
    `detail` which time was up. An exit code or a signal name stands
    only where it ended by itself. `stdin_bytes` is how much input its pipe took. Outputs are head
    and tail; sizes count all that was written until the end.
    """

    why: Why
    detail: str = ""
    exit_code: int | None = None
    signal: str = ""
    stdin_bytes: int = 0
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_size: int = 0
    stderr_size: int = 0


def run_child(spec: ChildSpec, limit_s: float, cancel: int | None = None) -> ChildEnd:
    """Runs a command to its end; blocks for at most about `limit_s` seconds.

    When the descriptor `cancel` turns readable, everything is killed at once.
    """
    until_s = time.monotonic() + limit_s
    try:
        started = start_child(spec)
    except SpawnError as error:
        return ChildEnd(why="spawn", detail=str(error))
    child = _Child(spec, started, until_s)
    cleanly = False
    try:
        why = child.attend(cancel)
        cleanly = why == "exited"
    finally:
        child.end(cleanly=cleanly)
    return child.report(why)


class _Child:
    def __init__(self, spec: ChildSpec, started: StartedChild, until_s: float) -> None:
        self._spec = spec
        self._process = started.process
        self._until_s = until_s
        self._unsent = started.unsent
        self._stdin = started.stdin
        self._stdout = HeadTail(spec.stdout_cap_bytes)
        self._stderr = HeadTail(spec.stderr_cap_bytes)
        self._reads: dict[int, HeadTail] = {}
        self._late = ""
        self._exited = False
        self._exit = _exit_fd(started.process.pid)
        self._poll = select.poll()
        for fd, output in ((started.stdout, self._stdout), (started.stderr, self._stderr)):
            if fd is not None:
                self._reads[fd] = output
                self._poll.register(fd, select.POLLIN)
        if self._stdin is not None:
            self._poll.register(self._stdin, select.POLLOUT)
        if self._exit is not None:
            self._poll.register(self._exit, select.POLLIN)

    def attend(self, cancel: int | None) -> Why:
        """Moves bytes until the child has ended, its time is up, or nobody wants it any more."""
        if cancel is not None:
            self._poll.register(cancel, select.POLLIN)
        while not (self._exited and not self._reads):
            left_s = self._until_s - time.monotonic()
            if left_s <= 0:
                return "exited" if self._exited else "timeout"
            ready = [fd for fd, _ in self._poll.poll(self._patience_ms(left_s))]
            if cancel in ready:
                return "cancelled"
            for fd in ready:
                self._serve(fd)
            if self._exit is None and not self._exited and self._process.poll() is not None:
                self._note_exit()
        return "exited"

    def end(self, *, cleanly: bool) -> None:
        """Kills the group, reaps the leader, gives every descriptor back.

        Where the kernel tells of exits the leader is a zombie until now, so its number belongs to
        nobody else; elsewhere it was reaped a moment ago. Unless all went well, others in its
        session and in those made below it are looked for too; that takes longer.
        """
        # Before anybody is killed: whose parent is gone cannot be traced back to it.
        below = frozenset[int]() if cleanly else sessions_below(self._process.pid)
        # Nobody may be left in it; macOS says EPERM when only zombies are.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        if not cleanly or self._reads:
            kill_sessions(self._process.pid, below)
        self._reap()
        for fd in (self._stdin, self._exit, *self._reads):
            if fd is not None:
                os.close(fd)

    def report(self, why: Why) -> ChildEnd:
        """Builds the report of the end."""
        code = self._process.returncode if why == "exited" else None
        given = self._spec.stdin or b""
        return ChildEnd(
            why=why,
            detail=self._late if why == "timeout" else "",
            exit_code=code if code is not None and code >= 0 else None,
            signal=signal_name(-code) if code is not None and code < 0 else "",
            stdin_bytes=len(given) - len(self._unsent),
            stdout=self._stdout.content(),
            stderr=self._stderr.content(),
            stdout_size=self._stdout.size,
            stderr_size=self._stderr.size,
        )

    def _patience_ms(self, left_s: float) -> float:
        if self._exit is None and not self._exited:
            left_s = min(left_s, LOOK_S)
        return left_s * 1_000

    def _serve(self, fd: int) -> None:
        if fd == self._exit:
            self._poll.unregister(fd)
            self._note_exit()
        elif fd == self._stdin:
            self._write(fd)
        elif fd in self._reads:
            self._read(fd)

    def _read(self, fd: int) -> None:
        data = os.read(fd, CHUNK_BYTES)
        if data:
            self._reads[fd].add(data)
            return
        self._poll.unregister(fd)
        del self._reads[fd]
        os.close(fd)
        grace_s = self._spec.exit_grace_s
        if not self._reads and grace_s is not None and self._shorten(grace_s):
            self._late = f"it closed its outputs and did not exit within {grace_s:g} s"

    def _write(self, fd: int) -> None:
        try:
            self._unsent = self._unsent[os.write(fd, self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            # It wants no more of its input; what it says and how it exits still count.
            self._close_stdin()
            return
        if not self._unsent:
            self._close_stdin()

    def _close_stdin(self) -> None:
        if self._stdin is not None:
            self._poll.unregister(self._stdin)
            os.close(self._stdin)
            self._stdin = None

    def _note_exit(self) -> None:
        self._exited = True
        self._close_stdin()
        self._shorten(LINGER_S)

    def _shorten(self, seconds: float) -> bool:
        """Shortens the time left to so many seconds; returns whether that was less than it had."""
        until_s = time.monotonic() + seconds
        sooner = until_s < self._until_s
        self._until_s = min(self._until_s, until_s)
        return sooner

    def _reap(self) -> None:
        if self._exit is not None:
            gone = select.poll()
            gone.register(self._exit, select.POLLIN)
            gone.poll(REAP_S * 1_000)
            self._process.poll()
            return
        # What is stuck in the kernel, the interpreter reaps before it starts another one.
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(REAP_S)


def _exit_fd(pid: int) -> int | None:
    """Returns a descriptor that turns readable at the exit; None where the system has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None

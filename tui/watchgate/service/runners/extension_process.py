"""One process of an extension: started in a session of its own, ended with all its children."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress

import anyio
import anyio.to_thread
import msgspec

from watchgate.core.extensions.load import ExtensionSpec
from watchgate.service.admission.descriptors import give_back
from watchgate.service.runners.session import kill_sessions, sessions_below, signal_name
from watchgate.service.runners.spawn import SpawnError, close_all, why_not
from watchgate.service.splitter import Splitter

_LINE_LIMIT_BYTES = 8_192
_LAST_WORDS_CHARS = 2_000
_READ_BYTES = 65_536
_REAP_LIMIT_S = 5.0
_LAST_READS = 4
_LINES_A_SECOND = 20


class Started(msgspec.Struct, frozen=True):
    """A process that runs, and our ends of its three pipes."""

    popen: subprocess.Popen[bytes]
    stdin_fd: int
    stdout_fd: int
    stderr_fd: int


class ExtensionProcess:
    """A running process; `exited` is done once it has ended, reaped or not.

    Requests are written to `stdin_fd` and answers read from `stdout_fd`, neither blocks.
    `last_words` is the end of what it wrote to its standard error.
    """

    def __init__(self, started: Started, on_line: Callable[[str], None]) -> None:
        self.stdin_fd = started.stdin_fd
        self.stdout_fd = started.stdout_fd
        self.exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.last_words = ""
        self._popen = started.popen
        self._stderr_fd = started.stderr_fd
        self._open_fds = {started.stdin_fd, started.stdout_fd, started.stderr_fd}
        self._on_line = on_line
        self._lines = Splitter(_LINE_LIMIT_BYTES)
        self._second_s, self._passed, self._left_out = 0.0, 0, 0
        self._loop = asyncio.get_running_loop()
        for fd in self._open_fds:
            os.set_blocking(fd, False)
        self._loop.add_reader(self._stderr_fd, self._read_stderr)
        name = f"watch-{self._popen.pid}"
        threading.Thread(target=self._watch, name=name, daemon=True).start()

    def close_stdin(self) -> None:
        """Signals that no request follows; nothing may be written any more."""
        self._close(self.stdin_fd)

    def describe_end(self) -> str:
        """Returns in words how the process ended; only after `end`."""
        code = self._popen.returncode
        if code is None:
            return "could not be ended"
        if code >= 0:
            return f"ended with exit code {code}"
        return f"was killed by {signal_name(-code)}"

    async def end(self) -> None:
        """Kills whatever is left of the process and its children, and reaps it; shielded."""
        if not self._open_fds:
            return
        # Before anybody is killed: whose parent is gone cannot be traced back to it.
        below = sessions_below(self._popen.pid)
        with suppress(ProcessLookupError, PermissionError):
            # The watcher does not reap, so that the number is still this group's.
            os.killpg(self._popen.pid, signal.SIGKILL)
        kill_sessions(self._popen.pid, below)
        with anyio.move_on_after(_REAP_LIMIT_S, shield=True):
            await asyncio.shield(self.exited)
            self._popen.wait()
        # Nobody writes any more, so what is left fits into a pipe.
        for _ in range(_LAST_READS):
            self._read_stderr()
        for fd in tuple(self._open_fds):
            self._close(fd)

    def _close(self, fd: int) -> None:
        if fd in self._open_fds:
            self._open_fds.remove(fd)
            self._loop.remove_reader(fd)
            os.close(fd)

    def _watch(self) -> None:
        """Waits in a thread of its own: the one way that every system has."""
        if hasattr(os, "waitid"):
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._popen.wait()
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._note_exit)

    def _note_exit(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)

    def _read_stderr(self) -> None:
        """Reads standard error; of a line that is too long only its size is passed on."""
        if self._stderr_fd not in self._open_fds:
            return
        try:
            data = os.read(self._stderr_fd, _READ_BYTES)
        except BlockingIOError:
            return
        whole, dropped = self._lines.feed(data)
        lines = whole.split(b"\n")
        if not data:
            lines.append(self._lines.rest())
            self._close(self._stderr_fd)
        if dropped:
            self._pass_line(f"(a line of {dropped} bytes left out)")
        for line in filter(None, lines[:_LINES_A_SECOND]):
            self._pass_line(line.decode("utf-8", "backslashreplace"))
        self._left_out += max(0, len(lines) - _LINES_A_SECOND)
        last = b"\n".join(lines)[-_LAST_WORDS_CHARS:].decode("utf-8", "backslashreplace")
        if last:
            self.last_words = f"{self.last_words}{last}\n"[-_LAST_WORDS_CHARS:]

    def _pass_line(self, text: str) -> None:
        """Passes a line on; only so many a second, for each becomes a record."""
        now_s = self._loop.time()
        if now_s - self._second_s >= 1:
            if self._left_out:
                self._on_line(f"({self._left_out} lines left out)")
            self._second_s, self._passed, self._left_out = now_s, 0, 0
        self._passed += 1
        if self._passed <= _LINES_A_SECOND:
            self._on_line(text)
        else:
            self._left_out += 1


async def spawn(spec: ExtensionSpec, on_line: Callable[[str], None]) -> ExtensionProcess:
    """Starts the extension's process; `on_line` is given each line of its standard error.

    Raises `SpawnError`.
    """
    try:
        # In a thread, since making a process can take long; it is never abandoned half made.
        return ExtensionProcess(await anyio.to_thread.run_sync(_start, spec), on_line)
    except (OSError, ValueError) as fault:
        why = why_not(fault, spec.argv[0], spec.cwd) if isinstance(fault, OSError) else str(fault)
        raise SpawnError(f"{why}; mend the command in its manifest") from None


def _start(spec: ExtensionSpec) -> Started:
    ours: list[int] = []
    theirs: list[int] = []
    try:
        for writes in (True, False, False):
            read, write = os.pipe()
            ours.append(write if writes else read)
            theirs.append(read if writes else write)
        popen = subprocess.Popen(
            spec.argv,
            stdin=theirs[0],
            stdout=theirs[1],
            stderr=theirs[2],
            cwd=spec.cwd,
            env=spec.env,
            start_new_session=True,
        )
    except (OSError, ValueError):
        close_all(ours)
        raise
    finally:
        close_all(theirs)
    give_back(popen.pid)
    return Started(popen, *ours)

"""One run of an extension's process: starts it, initialises it, listens, and ends it.

However it goes, nothing of the process is left when this returns or is cancelled.

- One process of an extension: started in a session of its own, ended with all its children.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import anyio.to_thread
import msgspec

from watchgate.core.dispatch.extensions.extension_rpc import PeerResponse
from watchgate.core.dispatch.extensions.extension_spec import PROTOCOL_VERSION, ExtensionSpec
from watchgate.core.dispatch.extensions.restarts import RestartPolicy
from watchgate.service.runners.descendants import kill_sessions, sessions_below
from watchgate.service.runners.rpc_link import Loss, RpcLink
from watchgate.service.runners.spawn import SpawnError, close_all, signal_name, why_not_started
from watchgate.service.system.line_cutting import LineSplitter
from watchgate.service.system.process_limits import restore_child_limit

_LINE_LIMIT_BYTES = 8_192
_LAST_WORDS_CHARS = 2_000
_READ_BYTES = 65_536
_REAP_LIMIT_S = 5.0
_LAST_READS = 4
_LINES_A_SECOND = 20


class StartedExtension(msgspec.Struct, frozen=True):
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

    def __init__(self, started: StartedExtension, on_line: Callable[[str], None]) -> None:
        self.stdin_fd = started.stdin_fd
        self.stdout_fd = started.stdout_fd
        self.exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.last_words = ""
        self._popen = started.popen
        self._stderr_fd = started.stderr_fd
        self._open_fds = {started.stdin_fd, started.stdout_fd, started.stderr_fd}
        self._on_line = on_line
        self._lines = LineSplitter(_LINE_LIMIT_BYTES)
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


async def spawn_extension(spec: ExtensionSpec, on_line: Callable[[str], None]) -> ExtensionProcess:
    """Starts the extension's process; `on_line` is given each line of its standard error.

    Raises `SpawnError`.
    """
    try:
        # In a thread, since making a process can take long; it is never abandoned half made.
        return ExtensionProcess(await anyio.to_thread.run_sync(_start, spec), on_line)
    except (OSError, ValueError) as fault:
        why = (
            why_not_started(fault, spec.argv[0], spec.cwd)
            if isinstance(fault, OSError)
            else str(fault)
        )
        raise SpawnError(f"{why}; mend the command in its manifest") from None


def _start(spec: ExtensionSpec) -> StartedExtension:
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
    restore_child_limit(popen.pid)
    return StartedExtension(popen, *ours)


STOPPED = Loss("crash", "the extension was stopped")


class ExtensionTiming(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of each step of a run, in seconds.

    `exit_word_s` is how long a process that hung up has to say its exit code.
    """

    initialize_s: float = 10.0
    shutdown_s: float = 0.5
    grace_s: float = 0.5
    exit_word_s: float = 0.25
    restarts: RestartPolicy = RestartPolicy()


class LoadRefused(Exception):
    """The extension does not speak this protocol; starting it again would not change that."""


class ExtensionRun(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of one run; `up` is called once the extension is ready to be asked."""

    spec: ExtensionSpec
    timing: ExtensionTiming
    asked: Callable[[str, Any], Any]
    on_line: Callable[[str], None]
    up: Callable[[RpcLink], None]
    stop: asyncio.Future[None]


async def run_extension(life: ExtensionRun) -> Loss:
    """Runs the process until it is lost or told to stop, and returns how it ended.

    Raises `LoadRefused`.
    """
    try:
        process = await spawn_extension(life.spec, life.on_line)
    except SpawnError as fault:
        return Loss("spawn", str(fault))
    link = RpcLink(process.stdout_fd, process.stdin_fd, life.asked)
    loss = STOPPED
    try:
        early = await _initialize(life, process, link)
        if early is None:
            life.up(link)
            await _first({link.lost, process.exited, life.stop})
        if life.stop.done():
            await _goodbye(life, process, link)
        else:
            loss = early or await _loss(life, process, link)
    finally:
        link.close(loss)
        await process.end()
    return loss


async def _initialize(life: ExtensionRun, process: ExtensionProcess, link: RpcLink) -> Loss | None:
    """Introduces ourselves; returns how it failed, or None. Raises `LoadRefused`."""
    try:
        _, answer = link.send("initialize", life.spec.initialize)
    except ValueError as fault:
        raise LoadRefused(f"{life.spec.id} cannot be told its configuration: {fault}") from None
    limit_s = life.timing.initialize_s
    await _first({answer, link.lost, process.exited, life.stop}, limit_s)
    link.drain()
    if answer.done():
        _check(answer.result(), life.spec.id)
        return None
    if link.lost.done() or process.exited.done():
        return await _loss(life, process, link)
    if life.stop.done():
        return STOPPED
    return Loss("timeout", f"no answer to initialize in {limit_s:g} s")


def _check(answered: PeerResponse, id: str) -> None:
    if answered.error is not None:
        raise LoadRefused(f"{id} refused to initialise: {answered.error}; see its documentation")
    result = answered.result
    version = result.get("protocol_version") if isinstance(result, dict) else None
    if type(version) is not int or version != PROTOCOL_VERSION:
        raise LoadRefused(
            f"{id} speaks protocol version {version}, not {PROTOCOL_VERSION};"
            " install a version of it that does"
        )


async def _loss(life: ExtensionRun, process: ExtensionProcess, link: RpcLink) -> Loss:
    """Returns the way the link was lost, in the words that help the reader."""
    link.drain()
    await _first({process.exited}, life.timing.exit_word_s)
    loss = link.lost.result() if link.lost.done() else Loss("crash", "", closed=True)
    if process.exited.done() and loss.closed:
        await process.end()
        loss = Loss("crash", f"it {process.describe_end()}")
    return msgspec.structs.replace(loss, last_words=process.last_words)


async def _goodbye(life: ExtensionRun, process: ExtensionProcess, link: RpcLink) -> None:
    """Asks it to shut down, and gives it a moment to leave by itself."""
    if not link.lost.done():
        _, answer = link.send("shutdown", None)
        await _first({answer, link.lost, process.exited}, life.timing.shutdown_s)
    link.close(STOPPED)
    process.close_stdin()
    await _first({process.exited}, life.timing.grace_s)


async def _first(futures: set[asyncio.Future[Any]], limit_s: float | None = None) -> None:
    """Waits until one of them is done, or the time is over; none of them is cancelled."""
    await asyncio.wait(futures, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)

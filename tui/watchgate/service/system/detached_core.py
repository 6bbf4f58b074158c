"""Starting a core that survives the terminal, and probing for one that runs."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import time
from collections import deque

import msgspec

from watchgate.core.base import decoding
from watchgate.link.paths import Paths
from watchgate.service.system.runtime_dir import CannotServe

READY_S = 30.0
AGAIN_S = 2.0
"""Seconds for another core that is about to start, before one is started in its place."""

_LOOK_S = 0.02
_NAME = "watchgate: "


def answers(paths: Paths) -> bool:
    """Returns whether a core accepts on the control socket."""
    probe = socket.socket(socket.AF_UNIX)
    probe.settimeout(1.0)
    try:
        probe.connect(str(paths.control_socket))
    except OSError:
        return False
    finally:
        probe.close()
    return True


def start_core(paths: Paths) -> None:
    """Starts a core in a session of its own and waits until it is ready; raises `CannotServe`.

    Where another one is started at the same moment, that one is waited for.
    Its diagnostics go to the core's log; the ready line is read from its standard output.
    """
    end_s = time.monotonic() + READY_S
    while True:
        first_line, why = _start(paths)
        if first_line.ready or (first_line.running and _answers_soon(paths)):
            return
        if not first_line.running or time.monotonic() >= end_s:
            raise CannotServe(f"the core did not start: {why} (its log is {paths.core_log})")


def _start(paths: Paths) -> tuple[_FirstLine, str]:
    """Starts a core; returns its first line and, where it is not ready, the end of its log."""
    paths.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    log = os.open(paths.core_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    before = os.fstat(log).st_size
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "watchgate", "serve", "--detached"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            cwd="/",
            env=_environment(paths),
        )
    finally:
        os.close(log)
    first_line = _parsed_first_line(_first_line(process))
    if first_line.ready:
        return first_line, ""
    if not first_line.announced:
        process.kill()
    process.wait()
    lines = (line.removeprefix(_NAME) for line in last_log_lines(paths, 3, since=before))
    return first_line, " ".join(lines) or "it said nothing"


def _answers_soon(paths: Paths) -> bool:
    """Waits for a core that another process has started; False where it does not come."""
    end_s = time.monotonic() + min(AGAIN_S, READY_S)
    while not answers(paths):
        if time.monotonic() >= end_s:
            return False
        time.sleep(_LOOK_S)
    return True


def last_log_lines(paths: Paths, count: int, *, since: int = 0) -> list[str]:
    """Returns the newest lines of the detached core's log, from a position in bytes on."""
    try:
        with paths.core_log.open("rb") as log:
            log.seek(since)
            lines = deque(log, count)
    except OSError:
        return []
    return [line.decode("utf-8", errors="replace").rstrip("\n") for line in lines]


def _first_line(process: subprocess.Popen[bytes]) -> bytes:
    """Returns a core's first line; empty when it ends or stays silent for too long."""
    assert process.stdout is not None  # noqa: S101 - asked for above
    with process.stdout as out:
        readable, _, _ = select.select([out], [], [], READY_S)
        return out.readline() if readable else b""


def _environment(paths: Paths) -> dict[str, str]:
    """Returns the caller's environment with explicit directories, as the core changes its own."""
    return {**os.environ, **paths.environment}


def _parsed_first_line(line: bytes) -> _FirstLine:
    try:
        return decoding.decode(line, _FirstLine)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _FirstLine(announced=False)


class _FirstLine(msgspec.Struct, frozen=True):
    """A core's first line: it is ready, or ends because another one is `running`.

    One that wrote no such line (`announced` is False) has to be ended.
    """

    ready: bool = False
    running: bool = False
    announced: bool = msgspec.field(name="told", default=True)

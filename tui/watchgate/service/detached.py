"""Starting a core that survives the terminal, and asking whether one is there."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import time
from collections import deque

import msgspec

from watchgate.core import decoding
from watchgate.link.paths import Paths
from watchgate.service.cannot_serve import CannotServe

READY_S = 30.0
AGAIN_S = 2.0
"""How long another core that is about to start may take before one is started in its place."""

_LOOK_S = 0.02
_NAME = "watchgate: "


def answers(paths: Paths) -> bool:
    """Whether a core accepts on the control socket."""
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
    """Start a core in a session of its own and wait until it is ready; raises `CannotServe`.

    Where another one is started at the same moment, that one is waited for.
    Its diagnostics go to the core's log; the ready line is read from its standard output.
    """
    end_s = time.monotonic() + READY_S
    while True:
        said, why = _start(paths)
        if said.ready or (said.running and _answers_soon(paths)):
            return
        if not said.running or time.monotonic() >= end_s:
            raise CannotServe(f"the core did not start: {why} (its log is {paths.core_log})")


def _start(paths: Paths) -> tuple[_Said, str]:
    """Start a core: what it says first, and where it is not ready what it complains of."""
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
    said = _said(_first_line(process))
    if said.ready:
        return said, ""
    if not said.told:
        process.kill()
    process.wait()
    lines = (line.removeprefix(_NAME) for line in last_log_lines(paths, 3, since=before))
    return said, " ".join(lines) or "it said nothing"


def _answers_soon(paths: Paths) -> bool:
    """Wait for a core that another process has started; false where it does not come."""
    end_s = time.monotonic() + min(AGAIN_S, READY_S)
    while not answers(paths):
        if time.monotonic() >= end_s:
            return False
        time.sleep(_LOOK_S)
    return True


def last_log_lines(paths: Paths, count: int, *, since: int = 0) -> list[str]:
    """The newest lines of the detached core's log, from a position in bytes on."""
    try:
        with paths.core_log.open("rb") as log:
            log.seek(since)
            lines = deque(log, count)
    except OSError:
        return []
    return [line.decode("utf-8", errors="replace").rstrip("\n") for line in lines]


def _first_line(process: subprocess.Popen[bytes]) -> bytes:
    """What a core says first; nothing when it ends or stays silent for too long."""
    assert process.stdout is not None  # noqa: S101 - asked for above
    with process.stdout as out:
        readable, _, _ = select.select([out], [], [], READY_S)
        return out.readline() if readable else b""


def _environment(paths: Paths) -> dict[str, str]:
    """The caller's environment with the places made explicit, since the core changes directory."""
    return {
        **os.environ,
        "WATCHGATE_RUNTIME_DIR": str(paths.runtime_dir),
        "WATCHGATE_STATE_DIR": str(paths.state_dir),
        "WATCHGATE_CONFIG": str(paths.config),
    }


def _said(line: bytes) -> _Said:
    try:
        return decoding.decode(line, _Said)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _Said(told=False)


class _Said(msgspec.Struct, frozen=True):
    """A core's first line: it is ready, or ends because another one is `running`.

    One that has not `told` anything has to be ended.
    """

    ready: bool = False
    running: bool = False
    told: bool = True

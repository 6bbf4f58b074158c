"""Starting a core that survives the terminal, and asking whether one is there."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
from collections import deque

import msgspec

from watchgate.link.paths import Paths
from watchgate.service.errors import CannotServe

READY_S = 30.0


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

    Its diagnostics go to the core's log; the ready line is read from its standard output.
    """
    paths.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    log = os.open(paths.core_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
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
    if not _is_ready(_first_line(process)):
        process.kill()
        process.wait()
        why = " ".join(last_log_lines(paths, 3)) or "it said nothing"
        raise CannotServe(f"the core did not start: {why} (its log is {paths.core_log})")


def last_log_lines(paths: Paths, count: int) -> list[str]:
    """The newest lines of the detached core's log."""
    try:
        with paths.core_log.open(encoding="utf-8", errors="replace") as log:
            return list(deque((line.rstrip("\n") for line in log), count))
    except OSError:
        return []


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


def _is_ready(line: bytes) -> bool:
    try:
        return bool(msgspec.json.decode(line, type=_Ready).ready)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


class _Ready(msgspec.Struct):
    ready: bool

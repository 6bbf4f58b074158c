"""`stdio`: the core's control protocol on standard input and output, for a console elsewhere."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
from threading import Thread
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.command_environment import here
from watchgate.cli.base.printing import Exit, Stop, complain

if TYPE_CHECKING:
    from watchgate.link.paths import Paths

CHUNK_BYTES = 64 * 1024
"""All that is held of either direction: whoever reads slowly slows the writer down."""


def add_parser(commands: Any) -> None:
    """Adds the command."""
    stdio = commands.add_parser(
        "stdio",
        help="the control protocol on standard input and output, as `attach ssh://...` uses it",
        description="Pass the control protocol of this machine's core through, byte for byte. "
        "A core is started in the background if none runs.",
        epilog="example: watchgate stdio, run by another machine as `ssh lab2 watchgate stdio`",
    )
    stdio.add_argument("--no-start", action="store_true", help="end with code 3 where no core runs")
    stdio.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    # Nobody waits for the rest of a connection whose other end is gone.
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGHUP, _leave)
    core = _core(here(), start=not args.no_start)
    with core:
        Thread(target=_send, args=(core,), daemon=True).start()
        try:
            _receive(core)
        except OSError:
            return Exit.DONE
    return Exit.DONE


def _leave(_signal: int, _frame: object) -> None:
    raise SystemExit(Exit.DONE)


def _core(paths: Paths, *, start: bool) -> socket.socket:
    """A connection to the core of this machine; one can be started where none answers."""
    from watchgate.link.control_lines import NoCore
    from watchgate.link.socket_door import check_door, why_not
    from watchgate.service.system.detached_core import answers, start_core
    from watchgate.service.system.runtime_dir import CannotServe

    core = socket.socket(socket.AF_UNIX)
    try:
        if start and not answers(paths):
            start_core(paths)
            complain("no core was running here: one was started in the background")
        check_door(paths.control_socket)
        core.connect(str(paths.control_socket))
    except (CannotServe, NoCore) as fault:
        core.close()
        raise Stop(str(fault), Exit.NO_CORE) from None
    except OSError as fault:
        core.close()
        raise Stop(str(NoCore(paths.control_socket, why_not(fault))), Exit.NO_CORE) from None
    return core


def _send(core: socket.socket) -> None:
    """Passes on what comes in; its end is passed on too, and what is asked is still answered."""
    try:
        while chunk := os.read(sys.stdin.fileno(), CHUNK_BYTES):
            core.sendall(chunk)
        core.shutdown(socket.SHUT_WR)
    except OSError:
        return  # the core is gone, which the other direction tells


def _receive(core: socket.socket) -> None:
    """Passes on what the core says until it ends; raises `OSError` where nobody listens."""
    out = sys.stdout.fileno()
    while chunk := core.recv(CHUNK_BYTES):
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(out, rest) :]

"""The second front end: a core without a screen, its readiness as one JSON line on stdout."""

from __future__ import annotations

import gc
import os
import sys

import anyio
import msgspec
from anyio.abc import TaskStatus

from watchgate import __version__
from watchgate.core.config import Config
from watchgate.link.paths import Paths
from watchgate.service.clock import SystemClock
from watchgate.service.errors import reasons_not_to_serve
from watchgate.service.host import Host

SWITCH_S = 0.0002
GARBAGE_AFTER = 20_000


def serve(paths: Paths, config: Config) -> None:
    """Run a core until it is stopped; raises `CannotServe` when it may not start."""
    # An allow waits for the journal's writer, which asks a busy loop for the interpreter more than
    # once and would wait for Python's default of 5 ms each time.
    sys.setswitchinterval(SWITCH_S)
    with reasons_not_to_serve():
        anyio.run(_serve, paths, config)


async def _serve(paths: Paths, config: Config) -> None:
    host = Host(paths, config, SystemClock())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(host.stop_on_signal)
        await tasks.start(_run, host, tasks.cancel_scope)
        ready = {
            "ready": True,
            "watchgate": __version__,
            "core": host.core,
            "pid": os.getpid(),
            "profile": config.profile,
            "ingest": str(paths.ingest_socket),
            "control": str(paths.control_socket),
        }
        # What lives as long as the core need not be looked through again and again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(GARBAGE_AFTER)
        print(msgspec.json.encode(ready).decode(), flush=True)
        if os.geteuid() == 0:
            print(
                "watchgate: runs as root; only agents of root can reach it, and an allow of theirs "
                "runs as root",
                file=sys.stderr,
            )


async def _run(
    host: Host,
    scope: anyio.CancelScope,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    await host.run(task_status=task_status)
    scope.cancel()

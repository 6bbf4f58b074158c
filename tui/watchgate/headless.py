"""The second front end: a core without a screen, its readiness as one JSON line on stdout."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import nullcontext

import anyio
import msgspec
from anyio.abc import TaskStatus

from watchgate import __version__
from watchgate.core.config.config import Config
from watchgate.link.paths import Paths
from watchgate.service.control.reload import Reread
from watchgate.service.host.core_host import CoreHost
from watchgate.service.host.start_errors import reasons_not_to_serve
from watchgate.service.runners.descendants import Orphans, adopt_orphans
from watchgate.service.system.process_limits import close_own_memory, raise_limit
from watchgate.service.system.system_clock import SystemClock

SWITCH_S = 0.0002
REAP_EACH_S = 5.0
GARBAGE_AFTER = 20_000


def serve(
    paths: Paths, config: Config, *, detached: bool = False, reread: Reread | None = None
) -> None:
    """Runs a core until it is stopped; raises `CannotServe` when it may not start.

    A `detached` one prints nothing but its first line: nobody reads more. `reread` gives the
    configuration as it is later.
    """
    # An allow waits for the journal's writer, which asks a busy loop for the interpreter more than
    # once and would wait for Python's default of 5 ms each time.
    sys.setswitchinterval(SWITCH_S)
    raise_limit()
    close_own_memory()
    starts_hooks = bool(config.handler or config.extension)
    with reasons_not_to_serve(), adopt_orphans() if starts_hooks else nullcontext(False) as adopts:
        anyio.run(_serve, paths, config, not detached, adopts, reread)


async def _serve(
    paths: Paths, config: Config, prints: bool, adopts: bool, reread: Reread | None
) -> None:
    """Runs a core until a signal ends it.

    Args:
        paths: The places of sockets and files.
        config: The configuration in force.
        prints: Print records on stdout.
        adopts: Reap processes that handlers leave behind.
        reread: Reads a changed configuration; None where it cannot change.
    """
    host = CoreHost(paths, config, SystemClock(), prints=prints, adopts=adopts, reread=reread)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(host.stop_on_signal)
        await tasks.start(_run, host, tasks.cancel_scope)
        if adopts:
            tasks.start_soon(_reap)
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
        host.printed()
        if os.geteuid() == 0:
            print(
                "watchgate: runs as root; only agents of root can reach it, and an allow of theirs "
                "runs as root",
                file=sys.stderr,
            )


async def _reap() -> None:
    orphans = Orphans()
    while True:
        await anyio.sleep(REAP_EACH_S)
        orphans.reap()


async def _run(
    host: CoreHost,
    scope: anyio.CancelScope,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    await host.run(task_status=task_status)
    if host.unrecorded:
        print(
            f"watchgate: the journal could not be written: {host.unrecorded} records are lost",
            file=sys.stderr,
        )
    scope.cancel()

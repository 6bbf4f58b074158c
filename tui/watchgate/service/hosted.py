"""A core inside another process: its own thread and event loop, behind the same sockets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from anyio.from_thread import BlockingPortal, start_blocking_portal

from watchgate.core.clock import Clock
from watchgate.core.config import Config
from watchgate.core.handlers import Handler
from watchgate.link.paths import Paths
from watchgate.service.clock import SystemClock
from watchgate.service.errors import reasons_not_to_serve
from watchgate.service.host import Host
from watchgate.service.runners.desk import Runner
from watchgate.service.stage import Stage


@contextmanager
def hosted(
    paths: Paths,
    config: Config,
    clock: Clock | None = None,
    environment: Stage | None = None,
    handlers: Sequence[tuple[Handler, Runner]] = (),
) -> Iterator[BlockingPortal]:
    """Runs a core for the length of the block; what is open at its end is answered closed.

    The portal reaches the core's event loop.

    Args:
        paths: The core's files and directories.
        config: Its configuration.
        clock: The machine's by default.
        environment: Its surroundings, this machine's by default.
        handlers: The host program's own, each with its runner.
    """
    with reasons_not_to_serve(), start_blocking_portal() as portal:
        host = Host(paths, config, clock or SystemClock(), environment, handlers=handlers)
        future, _ = portal.start_task(host.run)
        try:
            yield portal
        finally:
            portal.call(host.stop, "the console that hosted it")
            future.result()

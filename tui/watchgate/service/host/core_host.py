"""A core in this process: one run, or several where it started over by itself.

- A core inside another process: its own thread and event loop, behind the same sockets.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import anyio
import msgspec
from anyio.abc import TaskStatus
from anyio.from_thread import BlockingPortal, start_blocking_portal

from watchgate.core.base.clock import Clock
from watchgate.core.config.config import Config
from watchgate.core.dispatch.handlers import Handler
from watchgate.link.paths import Paths
from watchgate.service.control.reload import Reread
from watchgate.service.host.core_run import CoreOptions, CoreRun
from watchgate.service.host.start_errors import reasons_not_to_serve
from watchgate.service.hub.core_environment import Environment, real_environment
from watchgate.service.runners.handler_runner import Runner
from watchgate.service.system.runtime_dir import RuntimeDir
from watchgate.service.system.system_clock import SystemClock


class CoreHost:
    """A core in this process; `run` returns when it was stopped and every open gate is answered."""

    def __init__(
        self,
        paths: Paths,
        config: Config,
        clock: Clock,
        environment: Environment | None = None,
        *,
        prints: bool = False,
        adopts: bool = False,
        handlers: Sequence[tuple[Handler, Runner]] = (),
        reread: Reread | None = None,
    ) -> None:
        """Takes what every run of this core needs.

        Args:
            paths: Its files and directories.
            config: Its configuration.
            clock: The clock.
            environment: Its surroundings; this machine's by default.
            prints: Standard output is free for a sink.
            adopts: Whatever hooks leave behind stays below this process.
            handlers: The host program's own, each with its runner.
            reread: Reads the configuration again, None where that is not offered.
        """
        self._setting = CoreOptions(
            paths=paths,
            config=config,
            clock=clock,
            environment=environment or real_environment(paths),
            prints=prints,
            adopts=adopts,
            handlers=tuple(handlers),
            reread=reread,
        )
        self._printed = anyio.Event()
        self._life = CoreRun(self._setting, self._printed)

    @property
    def core(self) -> str:
        """The id of the core that runs now."""
        return self._life.core

    @property
    def unrecorded(self) -> int:
        """The number of records of ended runs that are in no journal."""
        return self._life.unrecorded

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serves until stopped; reports to `task_status` when both sockets accept."""
        with RuntimeDir(self._setting.paths) as directory:
            await self._life.run(directory, task_status=task_status)
            while self._life.renewed:
                setting = msgspec.structs.replace(self._setting, config=self._life.config)
                self._life = CoreRun(setting, self._printed, self._life.unrecorded)
                await self._life.run(directory)

    def stop(self, by: str) -> None:
        """Ends the core; `by` is recorded."""
        self._life.stop(by)

    async def stop_on_signal(self) -> None:
        """Ends the core on SIGTERM and SIGINT; SIGHUP is ignored, the core outlives terminals."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            async for number in signals:
                if number is not signal.SIGHUP:
                    self.stop(signal.Signals(number).name)
                    return

    def printed(self) -> None:
        """Releases standard output for sinks: the host has printed its own first lines."""
        self._printed.set()


@contextmanager
def hosted(
    paths: Paths,
    config: Config,
    clock: Clock | None = None,
    environment: Environment | None = None,
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
        host = CoreHost(paths, config, clock or SystemClock(), environment, handlers=handlers)
        future, _ = portal.start_task(host.run)
        try:
            yield portal
        finally:
            portal.call(host.stop, "the console that hosted it")
            future.result()

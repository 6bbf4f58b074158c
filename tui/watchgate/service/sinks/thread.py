"""Blocking work in a thread of its own, which nobody has to wait for.

A pool's threads are joined when the program ends, so one write to a pipe that nobody reads would
keep a stopped core alive. This thread is a daemon, and there is one for each sink at most.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue

from watchgate.service.boundary import contained

Done = tuple[int, str]
"""How many entries arrived, and why not more: an empty text when all did."""


class Thread:
    """Does one thing after the other; what was given up before it began is never done."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[tuple[Callable[[], Done], Future[Done]]] = SimpleQueue()
        self._running: threading.Thread | None = None

    async def do(self, work: Callable[[], Done]) -> Done:
        """Runs `work`; whoever is cancelled here leaves it to itself."""
        if self._running is None:
            self._running = threading.Thread(target=self._serve, name=self._name, daemon=True)
            self._running.start()
        future: Future[Done] = Future()
        self._jobs.put((work, future))
        return await asyncio.wrap_future(future)

    def _serve(self) -> None:
        while True:
            work, future = self._jobs.get()
            if future.set_running_or_notify_cancel():
                done: Done = (0, "")
                faults: list[str] = []
                with contained(faults.append):
                    done = work()
                for fault in faults:
                    done = (0, f"internal error: {fault}")
                future.set_result(done)

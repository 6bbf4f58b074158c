"""The interface to a sink's destination, and its way of failing.

- Blocking work in a thread of its own, which nobody has to wait for. A pool's threads are joined
  when the program ends, so one write to a pipe that nobody reads would keep a stopped core alive.
  This thread is a daemon, and there is one for each sink at most.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Literal, Protocol

from watchgate.service.system.error_boundary import contain_errors

Done = tuple[int, str]
"""The number of entries that arrived, and why no more did: an empty text when all did."""


class DeliveryThread:
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
                with contain_errors(faults.append):
                    done = work()
                for fault in faults:
                    done = (0, f"internal error: {fault}")
                future.set_result(done)


Then = Literal["retry", "drop", "drop-all"]


class Undelivered(Exception):
    """A delivery failed after the first `sent` of its entries had arrived.

    `then` is the fate of the rest: `retry` after a pause, `drop` them, or `drop-all` that waits
    because nobody is there. `quiet`: it is counted, but not reported.
    """

    def __init__(self, why: str, *, then: Then, sent: int = 0, quiet: bool = False) -> None:
        self.why = why
        self.then: Then = then
        self.sent = sent
        self.quiet = quiet
        super().__init__(why)


class Delivery(Protocol):
    """The way to one destination. An entry is the lines of one record, each with its newline."""

    @property
    def at_once(self) -> int:
        """Returns the number of entries that one `send` takes at most."""
        ...

    @property
    def mend(self) -> str:
        """Returns the advice to an operator for when it fails."""
        ...

    async def send(self, entries: Sequence[bytes]) -> None:
        """Delivers the entries in order; raises `Undelivered`."""
        ...

    def close(self) -> None:
        """Lets go of whatever is held, without waiting."""
        ...

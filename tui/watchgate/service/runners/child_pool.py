"""Runs children for the event loop, in a fixed number of worker threads that do nothing else.

Starting a process and waiting for it blocks a thread, and hooks may hang; so they get threads of
their own, which stay, and the core's other work never queues behind them.

- A signal to a worker thread that waits in `poll`.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import anyio
import msgspec

from watchgate.service.runners.child import ChildEnd, run_child
from watchgate.service.runners.spawn import ChildSpec


class Cancel:
    """A descriptor that turns readable once, for good.

    `set` and `close` may come in any order and from any thread.
    """

    def __init__(self) -> None:
        if hasattr(os, "eventfd"):
            self.fd = self._writes = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        else:
            self.fd, self._writes = os.pipe()
        self._lock = threading.Lock()
        self._open = True

    def set(self) -> None:
        """Makes it readable; nothing where it is closed."""
        with self._lock:
            if self._open:
                # An eventfd takes eight bytes that are a number, a pipe takes any.
                os.write(self._writes, b"\1" * 8)

    def close(self) -> None:
        """Gives the descriptor back."""
        with self._lock:
            if self._open:
                self._open = False
                for fd in {self.fd, self._writes}:
                    os.close(fd)


MAX_CHILDREN: Final = 64


class ChildRun(msgspec.Struct, frozen=True):
    """One run: how it ended (None: no thread was free within its limit), and how long it queued."""

    end: ChildEnd | None
    queue_ms: float


class ChildPool:
    """Runs at most `most` children at once."""

    def __init__(self, limit: int = MAX_CHILDREN) -> None:
        self.limit = limit
        self._threads = ThreadPoolExecutor(limit, thread_name_prefix="hook")

    async def run(self, spec: ChildSpec, limit_s: float) -> ChildRun:
        """Runs one child; queueing is part of its limit.

        When the caller is cancelled, the cancellation goes on only after everything is killed.
        """
        asked_s = time.monotonic()
        cancel = Cancel()

        def work() -> ChildRun:
            waited_s = time.monotonic() - asked_s
            if waited_s >= limit_s:
                return ChildRun(None, waited_s * 1_000)
            return ChildRun(run_child(spec, limit_s - waited_s, cancel.fd), waited_s * 1_000)

        job = self._threads.submit(work)
        job.add_done_callback(lambda _: cancel.close())
        done = asyncio.wrap_future(job)
        try:
            # `wait` leaves the job alone when the waiting is cancelled; a plain await would not.
            await asyncio.wait((done,), timeout=limit_s)
            if not done.done():
                if job.cancel():
                    return ChildRun(None, limit_s * 1_000)
                await asyncio.wait((done,))
        except anyio.get_cancelled_exc_class():
            await _stopped(job, done, cancel)
            raise
        return done.result()

    def close(self) -> None:
        """Lets the threads end; whoever runs something was cancelled before."""
        self._threads.shutdown(wait=False, cancel_futures=True)


async def _stopped(job: Future[ChildRun], done: asyncio.Future[ChildRun], cancel: Cancel) -> None:
    cancel.set()
    if not job.cancel():
        with anyio.CancelScope(shield=True):
            await asyncio.wait((done,))

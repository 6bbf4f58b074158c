"""Runs the handlers that the engine dispatches, and brings back the report of each.

Gates get a task each, at once. Observers queue behind a bounded number of their own: nobody
waits for them, and they must not take what gates need.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskStatus
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from watchgate.core.presets import CONSOLE, DispatchPolicy
from watchgate.core.verdicts import Failed, FailureCause, Report

Work = Callable[[], Awaitable[Report]]
Told = Callable[[Report], None]
Job = tuple[Work, Told]


class ObserverQueue:
    """Runs what nobody waits for; `offer` never waits either. The preset gives the limits."""

    def __init__(self, preset: DispatchPolicy = CONSOLE) -> None:
        self._at_once = preset.observers_at_once
        self._limit = preset.observers_waiting
        self._send: MemoryObjectSendStream[Job] | None = None

    def offer(self, work: Work, on_report: Told) -> None:
        """Queues a run; `on_report` gets exactly one report of it, at once when it is dropped."""
        if self._send is None:
            on_report(_failed("crowded", _STOPPED))
            return
        try:
            self._send.send_nowait((work, on_report))
        except anyio.WouldBlock:
            detail = f"dropped: {self._limit} observers wait already; this one never ran"
            on_report(_failed("crowded", detail))

    async def serve(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Runs what was offered until cancelled; whatever is queued then is reported as dropped."""
        send, receive = anyio.create_memory_object_stream[Job](self._limit)
        with send, receive:
            self._send = send
            try:
                async with anyio.create_task_group() as workers:
                    for _ in range(self._at_once):
                        workers.start_soon(_work, receive)
                    task_status.started()
            finally:
                self._send = None
                _drop(receive)


async def _work(jobs: MemoryObjectReceiveStream[Job]) -> None:
    while True:
        work, on_report = await jobs.receive()
        try:
            report = await work()
        except anyio.get_cancelled_exc_class():
            on_report(_failed("timeout", "ended early: the core stopped"))
            raise
        on_report(report)


def _drop(jobs: MemoryObjectReceiveStream[Job]) -> None:
    while True:
        try:
            _, on_report = jobs.receive_nowait()
        except (anyio.WouldBlock, anyio.EndOfStream):
            return
        on_report(_failed("crowded", _STOPPED))


_STOPPED = "dropped: the core stopped before it ran"


def _failed(cause: FailureCause, detail: str) -> Report:
    return Report(verdict=Failed(cause, detail))

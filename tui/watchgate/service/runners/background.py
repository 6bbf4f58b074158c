"""Observers run behind the decision: so many at once, so many waiting, the rest dropped aloud."""

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
    """Runs what nobody waits for; `offer` never waits either. The preset says how many."""

    def __init__(self, preset: DispatchPolicy = CONSOLE) -> None:
        self._at_once = preset.observers_at_once
        self._limit = preset.observers_waiting
        self._send: MemoryObjectSendStream[Job] | None = None

    def offer(self, work: Work, told: Told) -> None:
        """Queue a run; `told` hears exactly one report of it, at once when it is dropped."""
        if self._send is None:
            told(_failed("crowded", _STOPPED))
            return
        try:
            self._send.send_nowait((work, told))
        except anyio.WouldBlock:
            detail = f"dropped: {self._limit} observers wait already; this one never ran"
            told(_failed("crowded", detail))

    async def serve(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run what was offered until cancelled; whoever then still waits is told so."""
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
        work, told = await jobs.receive()
        try:
            report = await work()
        except anyio.get_cancelled_exc_class():
            told(_failed("timeout", "ended early: the core stopped"))
            raise
        told(report)


def _drop(jobs: MemoryObjectReceiveStream[Job]) -> None:
    while True:
        try:
            _, told = jobs.receive_nowait()
        except (anyio.WouldBlock, anyio.EndOfStream):
            return
        told(_failed("crowded", _STOPPED))


_STOPPED = "dropped: the core stopped before it ran"


def _failed(cause: FailureCause, detail: str) -> Report:
    return Report(verdict=Failed(cause, detail))

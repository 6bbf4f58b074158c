"""Runs the handlers that the engine dispatches, and brings back the report of each.

Gates get a task each, at once. Observers queue behind a bounded number of their own: nobody
waits for them, and they must not take what gates need.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio
from anyio.abc import TaskGroup, TaskStatus
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from watchgate.core.base.clock import Clock
from watchgate.core.dispatch.dispatch_loop import Invoke
from watchgate.core.dispatch.presets import CONSOLE, DispatchPolicy
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Failed, FailureCause, Report, Verdict
from watchgate.service.system.error_boundary import contain_errors

Work = Callable[[], Awaitable[Report]]
OnReport = Callable[[Report], None]
Job = tuple[Work, OnReport]


class ObserverQueue:
    """Runs what nobody waits for; `offer` never waits either. The preset gives the limits."""

    def __init__(self, preset: DispatchPolicy = CONSOLE) -> None:
        self._at_once = preset.observers_at_once
        self._limit = preset.observers_waiting
        self._send: MemoryObjectSendStream[Job] | None = None

    def offer(self, work: Work, on_report: OnReport) -> None:
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


HandlerAnswer = Verdict | Report
HandlerFunction = Callable[[Event], HandlerAnswer | Awaitable[HandlerAnswer]]


class CallableRunner:
    """Calls a function with each event; `run` raises nothing but cancellation.

    A coroutine function is cancelled at its limit. Any other runs on the core's loop, so it must
    return at once.
    """

    def __init__(self, call: HandlerFunction) -> None:
        self._call = call

    async def run(self, event: Event, limit_s: float) -> Report:
        """Returns the function's verdict on this event."""
        reports: list[Report] = []
        with (
            contain_errors(lambda fault: reports.append(Report(verdict=Failed("crash", fault)))),
            anyio.move_on_after(limit_s),
        ):
            verdict = self._call(event)
            if inspect.isawaitable(verdict):
                verdict = await verdict
            reports.append(verdict if isinstance(verdict, Report) else Report(verdict=verdict))
        return reports[0] if reports else Report(verdict=Failed("timeout"))


OnHandlerReport = Callable[[int, str, Report], None]
EARLIER_S = 0.05
"""A runner is to end this much before its deadline (a tenth of a shorter limit), so that its own
word on what went wrong is what counts."""


class Runner(Protocol):
    """Runs a handler; it raises nothing but cancellation."""

    async def run(self, event: Event, limit_s: float) -> Report:
        """Returns the handler's report on this event."""
        ...


class HandlerRunner:
    """Runs handlers by their id."""

    def __init__(self, runners: dict[str, Runner], observers: ObserverQueue, clock: Clock) -> None:
        self.runners = runners
        self._observers = observers
        self._clock = clock
        self._on_report: OnHandlerReport = _nobody
        self._tasks: TaskGroup | None = None
        self._scopes: dict[tuple[int, str], anyio.CancelScope] = {}
        # A rewrite asks a handler again, maybe while its first run is still being ended.
        self._asked: dict[tuple[int, str], Invoke] = {}

    async def serve(
        self,
        on_report: OnHandlerReport,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Runs what is asked until cancelled; what still runs then is ended with it.

        `on_report` gets dispatch_id, handler and report.
        """
        self._on_report = on_report
        async with anyio.create_task_group() as tasks:
            await tasks.start(self._observers.serve)
            self._tasks = tasks
            task_status.started()
            await anyio.sleep_forever()

    def ask(self, dispatch_id: int, invoke: Invoke) -> None:
        """Runs a handler for a dispatch; never waits."""
        key = (dispatch_id, invoke.handler.id)

        async def work() -> Report:
            return await self._run(key, invoke)

        def report_once(report: Report) -> None:
            if self._asked.get(key, invoke) is invoke:
                self._asked.pop(key, None)
                self._on_report(*key, report)

        self._asked[key] = invoke
        if invoke.handler.role != "gate" or not invoke.event.lane.waits:
            self._observers.offer(work, report_once)
        elif self._tasks is None:
            report_once(Report(verdict=Failed("spawn", "the core does not run handlers yet")))
        else:
            self._tasks.start_soon(self._gate, work, report_once)

    def halt(self, dispatch_id: int, handlers: frozenset[str]) -> None:
        """Ends these handlers and whatever they started; no report of them follows."""
        for handler in handlers:
            scope = self._scopes.get((dispatch_id, handler))
            self._asked.pop((dispatch_id, handler), None)
            if scope is not None:
                scope.cancel()

    async def _gate(self, work: Work, on_report: OnReport) -> None:
        on_report(await work())

    async def _run(self, key: tuple[int, str], invoke: Invoke) -> Report:
        runner = self.runners.get(invoke.handler.id)
        if self._asked.get(key) is not invoke:
            return Report(verdict=Failed("crash", "it was ended before it began"))
        left_s = invoke.deadline_s - self._clock.now().mono_s
        limit_s = left_s - min(EARLIER_S, left_s / 10)
        if runner is None:
            return Report(verdict=Failed("spawn", "nothing runs this handler"))
        if limit_s <= 0:
            return Report(verdict=Failed("timeout", "its time was over before it began"))
        reports: list[Report] = []
        with (
            contain_errors(lambda fault: reports.append(Report(verdict=Failed("crash", fault)))),
            anyio.CancelScope() as scope,
        ):
            self._scopes[key] = scope
            reports.append(await runner.run(invoke.event, limit_s))
        if self._scopes.get(key) is scope:
            del self._scopes[key]
        return reports[0] if reports else Report(verdict=Failed("crash", "it was ended"))


def _nobody(_hearing: int, _handler: str, _report: Report) -> None:
    """Takes no report: before `serve` nobody has asked."""

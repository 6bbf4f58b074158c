"""Runs the handlers that the engine dispatches, and brings back the report of each.

Gates get a task each, at once. Observers queue behind a bounded number of their own: nobody
waits for them, and they must not take what gates need.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

import anyio

from watchgate.core.events import Event
from watchgate.core.verdicts import Failed, Report, Verdict
from watchgate.service.boundary import contained

Says = Verdict | Report
Call = Callable[[Event], Says | Awaitable[Says]]


class CallableRunner:
    """Calls a function with each event; `run` raises nothing but cancellation.

    A coroutine function is cancelled at its limit. Any other runs on the core's loop, so it must
    return at once.
    """

    def __init__(self, call: Call) -> None:
        self._call = call

    async def run(self, event: Event, limit_s: float) -> Report:
        """Returns the function's verdict on this event."""
        reports: list[Report] = []
        with (
            contained(lambda fault: reports.append(Report(verdict=Failed("crash", fault)))),
            anyio.move_on_after(limit_s),
        ):
            verdict = self._call(event)
            if inspect.isawaitable(verdict):
                verdict = await verdict
            reports.append(verdict if isinstance(verdict, Report) else Report(verdict=verdict))
        return reports[0] if reports else Report(verdict=Failed("timeout"))

"""Handlers that are functions of the program that hosts the core."""

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
        """What the function says about this event."""
        reports: list[Report] = []
        with (
            contained(lambda fault: reports.append(Report(verdict=Failed("crash", fault)))),
            anyio.move_on_after(limit_s),
        ):
            said = self._call(event)
            if inspect.isawaitable(said):
                said = await said
            reports.append(said if isinstance(said, Report) else Report(verdict=said))
        return reports[0] if reports else Report(verdict=Failed("timeout"))

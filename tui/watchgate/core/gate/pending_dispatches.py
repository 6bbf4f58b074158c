"""Pending dispatches: the events whose handlers are running, and the clients that wait for each.

The same call that arrives over another connection waits for the same dispatch. When its clients
are gone the dispatch is cancelled, and no handler that it started runs on.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.dispatch_loop import Dispatch, Invoke
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.gate.call_tracker import TrackedCall
from watchgate.core.gate.effects import Effect, RunHandler, StopHandlers
from watchgate.core.gate.ruling import Ruling
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Outcome, Report

ENDED_SESSIONS_MAX = 2_000


class PendingDispatch(msgspec.Struct, kw_only=True, gc=False):
    """One event while its handlers run; `waiters` are connections and the event that each sent.

    `ruling` adds the policy's verdict to those of the handlers, where there is a call to rule on.
    `concluded` says that its outcome is in use: nobody can wait for it any more.
    """

    number: int
    dispatch: Dispatch
    event: Event
    call: TrackedCall | None
    waiters: list[tuple[int, Event]]
    concluded: bool = False
    took_ms: float = 0.0
    ruling: Ruling | None = None


class PendingDispatches:
    """The dispatches that are under way in one core, by their number."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self._open: dict[int, PendingDispatch] = {}
        self._count = 0

    def start(
        self, event: Event, conn: int, call: TrackedCall | None, limit_s: float, now: Instant
    ) -> Outcome | PendingDispatch:
        """Starts a dispatch over an event's handlers, unless none has to be run.

        Args:
            event: the event as its agent sent it.
            conn: the connection that it came over.
            call: the call that it belongs to, if any.
            limit_s: seconds that the handlers may take together.
            now: the current time.

        Returns:
            The outcome where no handler has to be run, else the new dispatch; then `begin` it.
        """
        started = self.bus.start(event, now, limit_s)
        if isinstance(started, Outcome):
            return started
        self._count += 1
        pending = PendingDispatch(
            number=self._count,
            dispatch=started,
            event=event,
            call=call,
            waiters=[(conn, event)] if event.lane.waits else [],
        )
        self._open[pending.number] = pending
        return pending

    def begin(self, pending: PendingDispatch, now: Instant) -> list[Effect]:
        """Returns the orders to run the first handlers."""
        return self._run_orders(pending, pending.dispatch.begin(now))

    def on_report(
        self, number: int, handler: str, report: Report, now: Instant
    ) -> tuple[PendingDispatch | None, list[Effect]]:
        """Takes a report; returns its dispatch while that is under way, and whom to run next."""
        pending = self._open.get(number)
        if pending is None:
            return None, []
        return pending, self._run_orders(pending, pending.dispatch.feed(handler, report, now))

    def expire(self, now: Instant) -> Iterable[tuple[PendingDispatch, list[Effect]]]:
        """Fails the handlers whose time is up; yields each dispatch that has one."""
        for pending in list(self._open.values()):
            due_s = pending.dispatch.next_deadline()
            if due_s is not None and due_s <= now.mono_s:
                before = pending.dispatch.running
                calls = pending.dispatch.expire(now)
                halted = StopHandlers(pending.number, before - pending.dispatch.running)
                yield pending, [halted, *self._run_orders(pending, calls)]

    def of_call(self, call: TrackedCall, kind: str) -> PendingDispatch | None:
        """Returns the dispatch that this call's event of this kind can wait for."""
        for pending in self._open.values():
            same = pending.call is call and pending.event.kind == kind and not pending.concluded
            # The handlers of an observed event run when there is time: nobody can wait for them.
            if same and pending.event.lane.waits:
                return pending
        return None

    def remove_waiter(self, conn: int) -> tuple[PendingDispatch, Event] | None:
        """Removes a connection from those that wait.

        Returns the dispatch for which only this connection waited, and what it sent; else None.
        """
        for pending in self._open.values():
            sent = next((event for number, event in pending.waiters if number == conn), None)
            if sent is not None and not pending.concluded:
                pending.waiters = [each for each in pending.waiters if each[0] != conn]
                return None if pending.waiters else (pending, sent)
        return None

    def cancel(self, pending: PendingDispatch, now: Instant) -> list[Effect]:
        """Ends a dispatch before its outcome; every handler that it started is stopped."""
        halted = StopHandlers(pending.number, pending.dispatch.running)
        pending.dispatch.cancel(now)
        return [halted]

    def waits_for(self, number: int) -> list[int]:
        """Returns the connections that wait for the outcome of this dispatch."""
        pending = self._open.get(number)
        return [] if pending is None else [conn for conn, _ in pending.waiters]

    def awaited(self, number: int) -> frozenset[str]:
        """Returns the handlers of this dispatch whose reports are awaited."""
        pending = self._open.get(number)
        return frozenset() if pending is None else pending.dispatch.running

    def close(self, pending: PendingDispatch) -> None:
        """Forgets a dispatch that is over."""
        self._open.pop(pending.number, None)

    def all(self) -> list[PendingDispatch]:
        """Returns the dispatches under way, the oldest first."""
        return list(self._open.values())

    def next_deadline(self) -> float | None:
        """Returns the monotonic time at which `expire` has to be called next."""
        due = (pending.dispatch.next_deadline() for pending in self._open.values())
        return min((each for each in due if each is not None), default=None)

    def _run_orders(self, pending: PendingDispatch, calls: list[Invoke]) -> list[Effect]:
        return [RunHandler(pending.number, call) for call in calls]


class EndedSessions:
    """The sessions that ended last: a program may say so twice, and only the first counts."""

    def __init__(self) -> None:
        self._sessions: Recent[tuple[str, str], None] = Recent(ENDED_SESSIONS_MAX)

    def add(self, event: Event) -> bool:
        """Notes the end of the event's session; returns whether it is the first one."""
        key = (event.agent, event.session)
        if key in self._sessions:
            return False
        self._sessions[key] = None
        return True

    def discard(self, event: Event) -> None:
        """Notes that a session goes on after its end, so that it may end again."""
        if self._sessions:
            self._sessions.pop((event.agent, event.session), None)

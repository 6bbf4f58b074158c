"""Hearings: the events whose handlers are being heard, and who waits for what comes of it.

A hearing is a dispatch that takes time. The same call that arrives over another connection waits
for the one hearing; when its clients are gone it is cut short, and nothing it started runs on.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.bus import Bus
from watchgate.core.calls import Call
from watchgate.core.clock import Instant
from watchgate.core.dispatch import Dispatch, Invoke
from watchgate.core.effects import Ask, Effect, Halt
from watchgate.core.events import Event
from watchgate.core.recent import Recent
from watchgate.core.ruling import Ruling
from watchgate.core.verdicts import Outcome, Report

ENDED_KEPT = 2_000


class Hearing(msgspec.Struct, kw_only=True, gc=False):
    """One event while its handlers are heard; `waiters` are connections and what each sent.

    `ruling` adds the policy's word to what the handlers said, where there is a call to rule on.
    """

    number: int
    dispatch: Dispatch
    event: Event
    call: Call | None
    waiters: list[tuple[int, Event]]
    concluded: bool = False
    took_ms: float = 0.0
    ruling: Ruling | None = None


class Hearings:
    """Everything that is being heard."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self._open: dict[int, Hearing] = {}
        self._count = 0

    def start(
        self, event: Event, conn: int, call: Call | None, limit_s: float, now: Instant
    ) -> Outcome | Hearing:
        """The outcome when there is nobody to hear, else a new hearing; then `begin` it."""
        found = self.bus.start(event, now, limit_s)
        if isinstance(found, Outcome):
            return found
        self._count += 1
        hearing = Hearing(
            number=self._count,
            dispatch=found,
            event=event,
            call=call,
            waiters=[(conn, event)] if event.lane.waits else [],
        )
        self._open[hearing.number] = hearing
        return hearing

    def begin(self, hearing: Hearing, now: Instant) -> list[Effect]:
        """The first handlers to ask."""
        return self._asks(hearing, hearing.dispatch.begin(now))

    def heard(
        self, number: int, handler: str, report: Report, now: Instant
    ) -> tuple[Hearing | None, list[Effect]]:
        """Take a report: the hearing that it belongs to, if it goes on, and whom to ask next."""
        hearing = self._open.get(number)
        if hearing is None:
            return None, []
        return hearing, self._asks(hearing, hearing.dispatch.feed(handler, report, now))

    def expire(self, now: Instant) -> Iterable[tuple[Hearing, list[Effect]]]:
        """Fail the handlers whose time is up, in every hearing that has one."""
        for hearing in list(self._open.values()):
            due_s = hearing.dispatch.next_deadline()
            if due_s is not None and due_s <= now.mono_s:
                before = hearing.dispatch.running
                calls = hearing.dispatch.expire(now)
                halted = Halt(hearing.number, before - hearing.dispatch.running)
                yield hearing, [halted, *self._asks(hearing, calls)]

    def of_call(self, call: Call, kind: str) -> Hearing | None:
        """The hearing that this call's event of this kind can wait for."""
        for hearing in self._open.values():
            same = hearing.call is call and hearing.event.kind == kind and not hearing.concluded
            # What is only observed is heard whenever there is time: nobody can wait for that.
            if same and hearing.event.lane.waits:
                return hearing
        return None

    def left_by(self, conn: int) -> tuple[Hearing, Event] | None:
        """The hearing for which only this connection waited, and what it sent; else None."""
        for hearing in self._open.values():
            sent = next((event for number, event in hearing.waiters if number == conn), None)
            if sent is not None and not hearing.concluded:
                hearing.waiters = [each for each in hearing.waiters if each[0] != conn]
                return None if hearing.waiters else (hearing, sent)
        return None

    def cut(self, hearing: Hearing, now: Instant) -> list[Effect]:
        """End a hearing before its outcome; what it started is ended with it."""
        halted = Halt(hearing.number, hearing.dispatch.running)
        hearing.dispatch.cancel(now)
        return [halted]

    def waits_for(self, number: int) -> list[int]:
        """The connections that wait for what comes of this hearing."""
        hearing = self._open.get(number)
        return [] if hearing is None else [conn for conn, _ in hearing.waiters]

    def awaited(self, number: int) -> frozenset[str]:
        """The handlers of this hearing whose reports are awaited."""
        hearing = self._open.get(number)
        return frozenset() if hearing is None else hearing.dispatch.running

    def close(self, hearing: Hearing) -> None:
        """Forget a hearing that is over."""
        self._open.pop(hearing.number, None)

    def all(self) -> list[Hearing]:
        """What is being heard, the oldest first."""
        return list(self._open.values())

    def next_deadline(self) -> float | None:
        """When `expire` has to be called next, in monotonic seconds."""
        due = (hearing.dispatch.next_deadline() for hearing in self._open.values())
        return min((each for each in due if each is not None), default=None)

    def _asks(self, hearing: Hearing, calls: list[Invoke]) -> list[Effect]:
        return [Ask(hearing.number, call) for call in calls]


class Ended:
    """The sessions that ended last: a program may say so twice, and only once is it heard."""

    def __init__(self) -> None:
        self._sessions: Recent[tuple[str, str], None] = Recent(ENDED_KEPT)

    def add(self, event: Event) -> bool:
        """Note the end of the event's session; whether that is news."""
        key = (event.agent, event.session)
        if key in self._sessions:
            return False
        self._sessions[key] = None
        return True

    def discard(self, event: Event) -> None:
        """Another event came of the session: it goes on, and may end again."""
        if self._sessions:
            self._sessions.pop((event.agent, event.session), None)

"""Plays a dispatch: runs what it asks for, in any finishing order, on a clock of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from tests.core.builders import START, pre
from watchgate.core.dispatch.dispatch_loop import Dispatch, Invoke
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import CONSOLE, DispatchPolicy
from watchgate.core.model.events import Event, ToolCall
from watchgate.core.model.verdicts import Outcome, Report, TraceRow, Verdict

Says = Verdict | Report | None | Callable[[dict[str, Any]], Verdict]
"""What a handler answers; None hangs for ever, a function answers by the input that it sees."""


class Played(msgspec.Struct, frozen=True):
    """A dispatch that is over: what came of it, its whole trace, and who was run, in order."""

    outcome: Outcome
    trace: tuple[TraceRow, ...]
    ran: tuple[str, ...] = ()
    took_s: float = 0.0

    @property
    def seen(self) -> list[tuple[str, str]]:
        """Each handler with its verdict, or with the reason why it was skipped."""
        return [(row.handler, row.why or row.verdict or "") for row in self.trace]

    def row(self, handler_id: str) -> TraceRow:
        """The one row of a handler."""
        (found,) = (row for row in self.trace if row.handler == handler_id)
        return found


def handler(id: str, *on: str, **fields: Any) -> Handler:
    """A gate on calls that are about to run, unless the fields say otherwise."""
    return Handler(id=id, on=frozenset(on or {"tool.pre"}), **fields)


def first(waiting: Sequence[Invoke]) -> int:
    """Whoever was started first ends first."""
    return 0


def last(waiting: Sequence[Invoke]) -> int:
    """Whoever was started last ends first."""
    return len(waiting) - 1


def run(
    handlers: Sequence[Handler],
    says: Mapping[str, Says],
    *,
    policy: DispatchPolicy = CONSOLE,
    event: Event | None = None,
    took_s: float = 0.0,
    ends_next: Callable[[Sequence[Invoke]], int] = first,
) -> Played:
    """Register the handlers, dispatch one event over them and play it to its end."""
    return play(Bus(policy, handlers), says, event, took_s=took_s, ends_next=ends_next)


def play(
    bus: Bus,
    says: Mapping[str, Says],
    event: Event | None = None,
    *,
    took_s: float = 0.0,
    ends_next: Callable[[Sequence[Invoke]], int] = first,
) -> Played:
    """Dispatches one event over a bus and plays it to its end; each answer takes `took_s`."""
    started = bus.start(event or pre(), START)
    if isinstance(started, Outcome):
        return Played(started, started.trace)
    now, ran, waiting = START, [], started.begin(START)
    ran += [call.handler.id for call in waiting]
    while not started.over:
        answering = [call for call in waiting if says[call.handler.id] is not None]
        if answering:
            call = answering[ends_next(answering)]
            now = now.plus(took_s)
            following = started.feed(call.handler.id, report(says[call.handler.id], call), now)
        else:
            deadline_s = started.next_deadline()
            assert deadline_s is not None
            now = now.plus(deadline_s - now.mono_s)
            following = started.expire(now)
        ran += [each.handler.id for each in following]
        waiting = [each for each in waiting if each.handler.id in started.running]
        known = {each.handler.id for each in following}
        waiting = [each for each in waiting if each.handler.id not in known] + following
    outcome = started.outcome
    assert outcome is not None
    return Played(outcome, started.trace(), tuple(ran), now.mono_s - START.mono_s)


def report(said: Says, call: Invoke) -> Report:
    """What a runner would bring back."""
    if isinstance(said, Report):
        return said
    if callable(said):
        body = call.event.body
        assert isinstance(body, ToolCall)
        said = said(body.tool.input)
    assert said is not None
    return Report(verdict=said)


def begun(handlers: Sequence[Handler], policy: DispatchPolicy = CONSOLE) -> Dispatch:
    """A dispatch of a call over the handlers, not begun yet."""
    dispatch = Bus(policy, handlers).start(pre(), START)
    assert isinstance(dispatch, Dispatch)
    return dispatch

"""The registered handlers by kind, and the start of a dispatch over them.

Which handlers an agent's tool can concern at all is worked out once and kept; so an event that
nobody wants costs a look-up, with the trace rows of those that were skipped ready made.

- The circuit breaker of a handler: one that times out again and again is not run for a while.
  Without it a hung handler would cost its whole time limit on every event. A handler that is
  skipped counts as one that failed, so its failure policy says what that amounts to.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.dispatch_loop import ChainEntry, Dispatch, skipped_row
from watchgate.core.dispatch.handler_matchers import Matcher, ToolCondition, ToolPrefix, ToolRegex
from watchgate.core.dispatch.handlers import KINDS, Handler, RegistrationError, check_handler
from watchgate.core.dispatch.presets import DispatchPolicy
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Outcome, SkipReason, TraceRow

TRIPS_AT = 3
REST_S = 30.0


class Breaker:
    """Counts the timeouts of one handler in a row; times are monotonic seconds."""

    def __init__(self, *, trips_at: int = TRIPS_AT, rest_s: float = REST_S) -> None:
        self._trips_at = trips_at
        self._rest_s = rest_s
        self._in_a_row = 0
        self._closed_from_s = float("-inf")

    def rests(self, now_s: float) -> str:
        """Returns the reason not to run the handler now; empty when it may run.

        After the rest one call tries it.
        """
        if self._in_a_row < self._trips_at:
            return ""
        left_s = self._closed_from_s - now_s
        if left_s > 0:
            return f"{self._in_a_row} timeouts in a row; asked again in {left_s:.0f} s"
        self._closed_from_s = now_s + self._rest_s
        return ""

    def note_end(self, now_s: float, *, timed_out: bool) -> None:
        """Notes how a call of the handler ended."""
        if not timed_out:
            self._in_a_row = 0
            return
        self._in_a_row += 1
        self._closed_from_s = now_s + self._rest_s


PLANS_MAX = 1_000
ONCE_SESSIONS_MAX = 2_000

_PlanKey = tuple[str, str, str, str]


class _Plan(msgspec.Struct, frozen=True):
    """The handlers of one kind for one agent and tool; `nobody` is the outcome if none fits."""

    seated: tuple[ChainEntry, ...]
    asks_more: tuple[ChainEntry, ...]
    nobody: Outcome


class Bus:
    """The handlers of one policy; a dispatch keeps the list that it started with.

    A program that embeds the core may also remove, count and list them while it runs.
    """

    def __init__(self, policy: DispatchPolicy, handlers: Iterable[Handler] = ()) -> None:
        self.policy = policy
        self._chains: dict[str, tuple[Handler, ...]] = {}
        self._plans: dict[_PlanKey, _Plan] = {}
        self._breakers: dict[str, Breaker] = {}
        self._once: Recent[tuple[str, str], set[str]] = Recent(ONCE_SESSIONS_MAX)
        self._nobody = Outcome(decision=policy.no_match)
        self._view_only = Outcome(decision=policy.no_match, effect="view")
        self._unhandled: dict[str, Outcome] = {}
        self._changed()
        for handler in handlers:
            self.register(handler)

    def register(self, handler: Handler) -> None:
        """Adds a handler; dispatches already under way do not see it.

        Raises `RegistrationError`, and then nothing is registered.
        """
        check_handler(handler)
        if handler.id in self._breakers:
            raise RegistrationError(f"there is a handler {handler.id} already: give it another id")
        self._breakers[handler.id] = Breaker()
        for kind in handler.on:
            chain = (*self._chains.get(kind, ()), handler)
            if self.policy.order == "priority":
                chain = tuple(sorted(chain, key=lambda each: each.priority))
            self._chains[kind] = chain
        self._changed()

    def remove(self, owner: str) -> int:
        """Removes the handler of this id and those that belong to it (`owner:...`).

        Returns the number of handlers that were removed.
        """
        gone = {each.id for each in self._all() if each.id.partition(":")[0] == owner}
        gone |= {owner} & self._breakers.keys()
        for kind, chain in list(self._chains.items()):
            left = tuple(each for each in chain if each.id not in gone)
            if left:
                self._chains[kind] = left
            else:
                del self._chains[kind]
        for each in gone:
            del self._breakers[each]
        self._changed()
        return len(gone)

    def subscriptions(self, owner: str) -> list[tuple[str, str | None]]:
        """Returns the kinds that an owner's handlers see, each with its tool condition, sorted."""
        rows = [
            (kind, _filter(each.match))
            for kind, chain in self._chains.items()
            for each in chain
            if each.id == owner or each.id.startswith(f"{owner}:")
        ]
        return sorted(rows, key=lambda each: (each[0], each[1] is not None, each[1] or ""))

    @property
    def handler_count(self) -> int:
        """Returns the number of registrations, over all kinds."""
        return sum(map(len, self._chains.values()))

    @property
    def is_empty(self) -> bool:
        """Returns whether no kind has a handler."""
        return not self._chains

    def hears(self, kind: str) -> bool:
        """Returns whether a handler is registered for events of this kind."""
        return kind in self._chains

    def gated(self, kind: str) -> bool:
        """Returns whether a gate is registered for this kind."""
        return any(each.role == "gate" for each in self._chains.get(kind, ()))

    def start(
        self, event: Event, now: Instant, limit_s: float = float("inf")
    ) -> Outcome | Dispatch:
        """Returns the outcome when no handler has to be run, else a dispatch to `begin`.

        `limit_s` bounds the whole chain further, for an agent that waits less long.
        """
        # Nobody to ask is the common case: one look-up, and an outcome is never false.
        return self._unhandled.get(event.kind) or self._ask(event, now, limit_s)

    def _ask(self, event: Event, now: Instant, limit_s: float) -> Outcome | Dispatch:
        chain = self._chains.get(event.kind, ())
        tool = event.tool
        names = (tool.name, tool.native_name) if tool is not None else ("", "")
        key = (event.kind, event.agent, *names)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plan(key, chain, event)
        for each in plan.asks_more:
            for condition in each.left:
                if not condition.holds(event):
                    break
            else:
                break
        else:
            return plan.nobody
        return self._dispatch(plan, event, now, limit_s)

    def note_end(self, handler_id: str, now: Instant, *, timed_out: bool) -> None:
        """Notes for a handler's breaker that it has answered, or has timed out."""
        breaker = self._breakers.get(handler_id)
        if breaker is not None:
            breaker.note_end(now.mono_s, timed_out=timed_out)

    def forget(self, event: Event) -> None:
        """Forgets a session that ended: what runs once a session may run again in the next."""
        self._once.pop((event.agent, event.session), None)

    def _dispatch(
        self, plan: _Plan, event: Event, now: Instant, limit_s: float
    ) -> Outcome | Dispatch:
        if self.policy.events is not None and event.native not in self.policy.events:
            rows = tuple(skipped_row(each.handler, "filter") for each in plan.seated)
            return msgspec.structs.replace(self._empty(event.kind), trace=rows)
        return Dispatch(self.policy, plan.seated, event, now, limit_s, self)

    def refuses(
        self, handler: Handler, event: Event, now: Instant, *, again: bool
    ) -> tuple[SkipReason, str] | None:
        """Returns the reason to skip the handler that is next in the chain; None when it runs.

        `again` says that a rewrite makes it run once more for the same event.
        """
        if handler.disabled:
            return "disabled", ""
        breaker = self._breakers.get(handler.id)
        rests = breaker.rests(now.mono_s) if breaker is not None else ""
        if rests:
            return "breaker", rests
        if handler.once and not again and not self._first(handler, event):
            return "once", ""
        return None

    def _changed(self) -> None:
        self._plans.clear()
        self._unhandled = {kind: self._empty(kind) for kind in KINDS if kind not in self._chains}

    def _empty(self, kind: str) -> Outcome:
        return self._nobody if self.policy.effect(kind) == "gate" else self._view_only

    def _first(self, handler: Handler, event: Event) -> bool:
        ran = self._once.get((event.agent, event.session))
        if ran is None:
            ran = self._once[event.agent, event.session] = set()
        first = handler.id not in ran
        ran.add(handler.id)
        return first

    def _plan(self, key: _PlanKey, chain: tuple[Handler, ...], event: Event) -> _Plan:
        seated = []
        for handler in chain:
            named, left = handler.match.split()
            fits = all(condition.holds(event) for condition in named)
            seated.append(ChainEntry(handler, fits, left))
        rows: tuple[TraceRow, ...] = tuple(skipped_row(each.handler, "matcher") for each in seated)
        plan = _Plan(
            seated=tuple(seated),
            asks_more=tuple(each for each in seated if each.fits),
            nobody=Outcome(
                decision=self.policy.no_match, effect=self.policy.effect(event.kind), trace=rows
            ),
        )
        if len(self._plans) >= PLANS_MAX:
            self._plans.clear()
        self._plans[key] = plan
        return plan

    def _all(self) -> Iterable[Handler]:
        return (each for chain in self._chains.values() for each in chain)


def _filter(matcher: Matcher) -> str | None:
    """Returns the first condition on a tool's name, as text; None without one."""
    for condition in matcher.conditions:
        match condition:
            case ToolCondition(names=names):
                return ",".join(names)
            case ToolPrefix(prefix=text) | ToolRegex(pattern=text):
                return text
    return None

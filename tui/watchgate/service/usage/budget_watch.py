"""Watches the spending, and records whenever a budget reaches another level."""

from __future__ import annotations

from typing import Self

import anyio
import msgspec

from watchgate.core.base.clock import Clock
from watchgate.core.config.config_sections import CostsConfig
from watchgate.core.model.records import COUNTED, BudgetData, Draft, Record
from watchgate.core.usage.budget import (
    DAY,
    KIND,
    Spending,
    budget_key,
    changed_budget,
    spent_by,
    spent_on,
)
from watchgate.core.usage.session_usage import Key, SessionUsage, is_doubted
from watchgate.core.usage.usage_fold import DAY_US
from watchgate.service.hub.hub import Hub

LOOK_S = 60.0
"""A machine that was suspended sees the new day no later than this after it woke."""
PAUSE_S = 0.1
"""Between two looks, however fast usage is told."""
_USAGE = ("usage", COUNTED)


class BudgetWatch:
    """Watches one core's budgets; what earlier cores recorded of them is in its state."""

    def __init__(self, hub: Hub, clock: Clock, config: CostsConfig) -> None:
        self._hub = hub
        self._clock = clock
        self._config = config
        self._touched: set[Key] = set()
        self._woken = anyio.Event()

    @classmethod
    def of(cls, hub: Hub, clock: Clock, config: CostsConfig) -> Self | None:
        """Returns the watch that a configuration asks for; None where it needs none.

        It needs one for a budget in it, and for one that is still on record.
        """
        if config.budget_day_usd or config.budget_session_usd or hub.recorder.state.budgets:
            return cls(hub, clock, config)
        return None

    def offer(self, record: Record) -> None:
        """Takes a record: a session's usage is looked at soon, and not while it is recorded."""
        if record.kind in _USAGE:
            self._touched.add((record.agent or "", record.session or ""))
            self._woken.set()

    async def run(self) -> None:
        """Looks until cancelled."""
        partial = True
        while True:
            # Once more when the past is known: nobody says which sessions it is about.
            everything, partial = partial, self._hub.recorder.remembering
            self.look(everything=everything)
            await anyio.sleep(PAUSE_S)
            wait_s = PAUSE_S if partial else min(LOOK_S, self._until_midnight_s())
            with anyio.move_on_after(wait_s):
                await self._woken.wait()
            self._woken = anyio.Event()

    def look(self, *, everything: bool = False) -> None:
        """Records every budget whose level differs from the recorded one: the day's, and sessions'.

        Of sessions those that used something since, or `everything` that is known.
        """
        state = self._hub.recorder.state
        usage, day = state.usage, state.usage.day_of(self._clock.now().wall_us)
        touched, self._touched = self._touched, set()
        if everything:
            touched = set(usage.sessions)
        spent = self._known(spent_on(day, usage.spent))
        if any(is_doubted(each) for each in usage.sessions.values() if _used_on(day, each)):
            spent = msgspec.structs.replace(spent, doubted=True)
        budget = changed_budget("day", spent, self._config, state.budgets.get(DAY), day)
        if budget is not None:
            self._record(budget, None)
        for key in sorted(touched):
            session = usage.sessions.get(key)
            before = state.budgets.get(budget_key(*key))
            if session is None or not (self._config.budget_session_usd or before):
                continue
            budget = changed_budget(
                "session", self._known(spent_by(session)), self._config, before, day
            )
            if budget is not None:
                self._record(budget, key)

    def _known(self, spending: Spending) -> Spending:
        """Marks a sum as a lower bound until what earlier cores recorded is known."""
        if self._hub.recorder.remembering:
            return msgspec.structs.replace(spending, is_lower_bound=True)
        return spending

    def _record(self, data: BudgetData, key: Key | None) -> None:
        self._hub.catch_up()
        agent, session = key or (None, None)
        now_us = self._clock.now().wall_us
        self._hub.recorder.record(
            Draft(kind=KIND, at=now_us, agent=agent, session=session, data=data)
        )

    def _until_midnight_s(self) -> float:
        usage, now_us = self._hub.recorder.state.usage, self._clock.now().wall_us
        next_day_us = (usage.day_of(now_us) + 1) * DAY_US - usage.utc_offset_s * 1_000_000
        return max((next_day_us - now_us) / 1_000_000, 0.0)


def _used_on(day: int, session: SessionUsage) -> bool:
    return any(each.day == day for each in session.spent)

"""The state of budgets, in the words of the strip, a chip, a notice and the Costs screen."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from watchgate.core.base.amounts import money
from watchgate.core.base.text import safe_text
from watchgate.core.model.records import BudgetData
from watchgate.core.model.sessions import SessionState
from watchgate.core.state.state import State
from watchgate.core.usage.budget import DAY, Level, budget_key

LABEL_CHARS = 16
STANDS: dict[Level, str] = {"free": "free", "warned": "nearly used up", "used-up": "used up"}


class Budget(msgspec.Struct, frozen=True):
    """A budget that is in force now: the day's, or (`label`) that of a session that lives."""

    key: str
    label: str
    data: BudgetData

    @property
    def owner(self) -> str:
        """Returns the budget's owner in the possessive: `today's`, `api-fix's`."""
        return "today's" if self.data.scope == "day" else f"{self.label}'s"

    @property
    def means(self) -> str:
        """Returns the consequence for calls once the budget is used up."""
        if not self.data.asks:
            return "calls go on as before"
        return "calls that the policy would allow are asked now"


def standing(state: State, now_us: int) -> Iterator[Budget]:
    """The budgets that are nearly or wholly used up: that of this day first."""
    budgets = state.budgets
    day = budgets.get(DAY)
    if day is not None and day.day == state.usage.day_of(now_us) and day.level != "free":
        yield Budget(DAY, "", day)
    for view in state.sessions.values():
        key = budget_key(view.agent, view.session)
        own = budgets.get(key)
        if own is not None and own.level != "free" and view.state is not SessionState.GONE:
            yield Budget(key, safe_text(view.label[:LABEL_CHARS]), own)


def today(state: State, now_us: int) -> BudgetData | None:
    """The day's budget, if it is nearly or wholly used up."""
    first = next(standing(state, now_us), None)
    return first.data if first is not None and first.key == DAY else None


def chip(state: State, now_us: int) -> tuple[str, str]:
    """Says that a budget is used up: with what it means, and in short; empty where none is."""
    over = [each for each in standing(state, now_us) if each.data.level == "used-up"]
    if not over:
        return "", ""
    asks = next((each for each in over if each.data.asks), over[0])
    means = "allowed calls are asked" if asks.data.asks else "calls go on"
    return f"{asks.owner} budget used up, {means}", "budget used up"


def words(budget: Budget) -> str:
    """Returns the budget's standing and what it means, for a notice."""
    data = budget.data
    spent = f"{money(data.spent_usd)} of {money(data.limit_usd)}"
    prefix = "at least " if data.is_lower_bound else ""
    sentence = f"{budget.owner} budget is {STANDS[data.level]}: {prefix}{spent}"
    return f"{sentence}; {budget.means}" if data.level == "used-up" else sentence


def of_today(budget: BudgetData | None, spent: str) -> str:
    """Returns the standing of the day's budget and the spending so far, for the Costs screen."""
    if budget is None:
        return ""
    return f"today's budget {STANDS[budget.level]}: {spent} of {money(budget.limit_usd)}"

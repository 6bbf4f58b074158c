"""Budgets: what was spent against the limit, and what follows for the calls to come.

A cost that is not known counts as nothing spent, and never as proof that less was: a lower bound
that falls leaves a budget where it was, and so does an agent's own figure that is below that of its
files. Only another complete figure, another limit or a new day can set calls free again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from watchgate.core.config.config_sections import CostsConfig
from watchgate.core.model.records import BudgetData
from watchgate.core.usage.session_usage import NANO, Key, SessionUsage, Spent, is_doubted

KIND: Final = "policy.budget"
RULE: Final = "policy.budget"
"""Under this name a call is asked about because a budget is used up."""
DAY: Final = "day"
MAX_SESSIONS = 2_000

Level = Literal["free", "warned", "used-up"]
Budgets = dict[str, BudgetData]
"""The budgets as they stand, by `DAY` or the `budget_key` of a session."""


class Spending(msgspec.Struct, frozen=True):
    """Nano-dollars that are known to be spent; `is_lower_bound`: it may have been more.

    `doubted`: an agent reports a lower cost than its files add up to.
    """

    nano: int
    is_lower_bound: bool = False
    doubted: bool = False


def budget_key(agent: str, session: str) -> str:
    """Returns the key of a session's budget."""
    return f"{agent} {session}"


def spent_on(day: int, spent: Iterable[Spent]) -> Spending:
    """Adds up what all sessions spent on a local day (days since 1970)."""
    of_day = [each for each in spent if each.day == day]
    # A reported cost that is missing stands with another model of its session.
    is_lower_bound = any(
        each.is_lower_bound or each.unpriced or (each.cost is None and each.source != "reported")
        for each in of_day
    )
    return Spending(sum(each.cost or 0 for each in of_day), is_lower_bound)


def spent_by(usage: SessionUsage) -> Spending:
    """Adds up what one session spent with its sub-agents, on all its days."""
    is_lower_bound = usage.cost is None or usage.is_lower_bound or bool(usage.unpriced)
    return Spending(usage.cost or 0, is_lower_bound, is_doubted(usage))


def changed_budget(
    scope: Literal["day", "session"],
    spending: Spending,
    config: CostsConfig,
    before: BudgetData | None,
    day: int,
) -> BudgetData | None:
    """Returns the budget's new standing, if that is to be recorded; None: as `before`, or free.

    Args:
        scope: The kind of budget.
        spending: The nano-dollars that are known to be spent.
        config: The limits in dollars, and at how many percent to warn.
        before: The standing that was recorded last.
        day: The local day (days since 1970).
    """
    limit_usd = config.budget_day_usd if scope == "day" else config.budget_session_usd
    nano = spending.nano
    is_same = before is not None and (scope == "session" or before.day == day)
    if before is not None and is_same and (spending.is_lower_bound or spending.doubted):
        nano = max(nano, round(before.spent_usd * NANO))
    level = _level(nano, limit_usd, config.warn_percent)
    now = BudgetData(
        scope=scope,
        level=level,
        spent_usd=nano / NANO,
        limit_usd=limit_usd,
        day=day if scope == "day" else 0,
        asks=level == "used-up" and config.over_budget == "ask",
        is_lower_bound=spending.is_lower_bound,
    )
    return None if _alike(before, now) else now


def _level(nano: int, limit_usd: float, warn_percent: int) -> Level:
    limit = round(limit_usd * NANO)
    if limit <= 0:
        return "free"
    if nano >= limit:
        return "used-up"
    return "warned" if nano * 100 >= limit * warn_percent else "free"


def _alike(before: BudgetData | None, now: BudgetData) -> bool:
    """Returns whether nothing changed for a reader; that it is free is said once, not at first."""
    if before is None or before.level == "free":
        return now.level == "free"
    same = (before.level, before.limit_usd, before.asks) == (now.level, now.limit_usd, now.asks)
    return same and before.day == now.day


def apply_budget(budgets: Budgets, data: BudgetData, key: Key) -> None:
    """Takes over how a budget stands; a session's budget that is free is not stored."""
    name = DAY if data.scope == "day" else budget_key(*key)
    budgets.pop(name, None)
    if data.scope == "day" or data.level != "free":
        budgets[name] = data
    if len(budgets) > MAX_SESSIONS:
        del budgets[next(each for each in budgets if each != DAY)]


def ask_reason(budgets: Mapping[str, BudgetData], agent: str, session: str) -> str:
    """Returns the reason to ask about a call that the policy allows; empty where there is none."""
    for name in (DAY, budget_key(agent, session)):
        data = budgets.get(name)
        if data is not None and data.asks and data.level == "used-up":
            return describe_budget(data)
    return ""


def describe_budget(data: BudgetData) -> str:
    """Describes a budget for a person: `today's budget is used up: $20.40 of $20.00`."""
    owner = "today's" if data.scope == "day" else "the session's"
    stands = {"free": "free", "warned": "nearly used up", "used-up": "used up"}[data.level]
    places = 2 if data.limit_usd >= 1 else 4
    spent, limit = f"${data.spent_usd:,.{places}f}", f"${data.limit_usd:,.{places}f}"
    bound = " (at least)" if data.is_lower_bound else ""
    return f"{owner} budget is {stands}: {spent} of {limit}{bound}"

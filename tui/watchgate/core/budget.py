"""Budgets: what was spent against what may be, and what follows for the calls to come.

A cost that is not known counts as nothing spent, and never as proof that less was: a lower bound
that falls leaves a budget where it was, and so does an agent's own figure that is below that of its
files. Only another complete figure, another limit or a new day can set calls free again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from watchgate.core.config_costs import CostsConfig
from watchgate.core.records import BudgetData
from watchgate.core.usage.meter import NANO
from watchgate.core.usage.session import Key, SessionUsage, Spent

KIND: Final = "policy.budget"
"""The kind of the records that tell how a budget stands."""
RULE: Final = "policy.budget"
"""Under this name a call is asked about because a budget is used up."""
DAY: Final = "day"
"""The key of the day's budget among others."""
SESSIONS_KEPT = 2_000

Level = Literal["free", "warned", "used-up"]
Budgets = dict[str, BudgetData]
"""How budgets stand, by `DAY` or the `budget_key` of a session."""


class Spending(msgspec.Struct, frozen=True):
    """Nano-dollars that are known to be spent; `least` says that it may have been more.

    `doubted`: an agent says that it cost less than its files tell.
    """

    nano: int
    least: bool = False
    doubted: bool = False


def budget_key(agent: str, session: str) -> str:
    """The key of a session's budget."""
    return f"{agent} {session}"


def spent_on(day: int, spent: Iterable[Spent]) -> Spending:
    """What all sessions spent on a local day (days since 1970)."""
    nano, least = 0, False
    for each in spent:
        if each.day == day:
            nano += each.cost or 0
            # A reported cost that is missing stands with another model of its session.
            untold = each.cost is None and each.source != "reported"
            least = least or each.least or untold or each.unpriced > 0
    return Spending(nano, least)


def spent_by(seen: SessionUsage) -> Spending:
    """What one session spent with its sub-agents, on all its days."""
    least = seen.cost is None or seen.least or bool(seen.unpriced)
    return Spending(seen.cost or 0, least, doubted(seen))


def doubted(seen: SessionUsage) -> bool:
    """Whether the session's own figure is below that of its files: anybody can tell one."""
    return seen.source == "reported" and (seen.computed_cost or 0) > (seen.cost or 0)


def changed(
    scope: Literal["day", "session"],
    spending: Spending,
    config: CostsConfig,
    before: BudgetData | None,
    day: int,
) -> BudgetData | None:
    """How the budget stands now, if that is to be said; None: as it did `before`, or it is free."""
    limit_usd = config.budget_day_usd if scope == "day" else config.budget_session_usd
    if before is not None and scope == "day" and before.day != day:
        held: BudgetData | None = None  # what was spent on another day
    else:
        held = before
    nano = spending.nano
    if held is not None and (spending.least or spending.doubted):
        nano = max(nano, round(held.spent_usd * NANO))
    level = _level(nano, limit_usd, config.warn_percent)
    now = BudgetData(
        scope=scope,
        level=level,
        spent_usd=nano / NANO,
        limit_usd=limit_usd,
        day=day if scope == "day" else 0,
        asks=level == "used-up" and config.over_budget == "ask",
        least=spending.least,
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
    """Whether nothing changed for whoever looks; that it is free is said once, and not at first."""
    if before is None or before.level == "free":
        return now.level == "free"
    same = (before.level, before.limit_usd, before.asks) == (now.level, now.limit_usd, now.asks)
    return same and before.day == now.day


def take(budgets: Budgets, data: BudgetData, key: Key) -> None:
    """A budget stands like this from now on; of a session's that is free nothing is kept."""
    name = DAY if data.scope == "day" else budget_key(*key)
    budgets.pop(name, None)
    if data.scope == "day" or data.level != "free":
        budgets[name] = data
    if len(budgets) > SESSIONS_KEPT:
        del budgets[next(each for each in budgets if each != DAY)]


def asked_because(budgets: Mapping[str, BudgetData], agent: str, session: str) -> str:
    """Why what the policy would allow by itself is to be asked; empty where it is not."""
    for name in (DAY, budget_key(agent, session)):
        data = budgets.get(name)
        if data is not None and data.asks and data.level == "used-up":
            return words(data)
    return ""


def words(data: BudgetData) -> str:
    """How the budget stands, for a person: `today's budget is used up: $20.40 of $20.00`."""
    whose = "today's" if data.scope == "day" else "the session's"
    stands = {"free": "free", "warned": "nearly used up", "used-up": "used up"}[data.level]
    places = 2 if data.limit_usd >= 1 else 4
    spent, limit = f"${data.spent_usd:,.{places}f}", f"${data.limit_usd:,.{places}f}"
    least = " (at least)" if data.least else ""
    return f"{whose} budget is {stands}: {spent} of {limit}{least}"

"""Sums of money, each with whose figures are in it and whether something is missing in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from watchgate.core.amounts import UNKNOWN, money, part_money
from watchgate.core.ledger.counted import Source
from watchgate.core.records import BudgetData
from watchgate.core.sessions import SessionState
from watchgate.core.state import State
from watchgate.core.usage.meter import NANO, nano
from watchgate.core.usage.session import SessionUsage, Spent, total
from watchgate.ui.costs.marks import AT_LEAST, of_both

IN_THE_SUM = "in the sum"
"""For a part of what an agent told one cost of."""


class Figure(Protocol):
    """One figure of a sum: nano-dollars, None where nobody knows them, and whose they are."""

    @property
    def cost(self) -> int | None:
        """Its money."""

    @property
    def source(self) -> Source:
        """Returns whose figure it is."""

    @property
    def is_lower_bound(self) -> bool:
        """Returns whether it is a lower bound."""


class Sum(msgspec.Struct, frozen=True):
    """A sum of money, None where nothing is known.

    `computed` of it (nano-dollars) is by prices; `mark` has a letter for each kind of figure in it.
    `elsewhere`: agents told one sum, which stands with another model.
    """

    cost: int | None
    at_least: bool = False
    computed: int = 0
    mark: str = ""
    elsewhere: bool = False


def today(state: State, now_us: int) -> Sum:
    """Sums today's cost; while no usage was folded, the sessions' own figures."""
    day_of = state.usage.day_of
    day = day_of(now_us)
    views = state.sessions.values()
    live = [
        each for each in views
        if each.state is not SessionState.GONE or day_of(each.seen_at) == day
    ]  # fmt: skip
    used = state.usage.sessions
    if not used:
        reported = [cost for view in live if (cost := nano(view.cost_usd)) is not None]
        mark = of_both(reported=bool(reported), computed=False)
        return Sum(
            sum(reported) if reported or not live else None, len(reported) < len(live), mark=mark
        )
    unknown = any(_cost_of(used.get((view.agent, view.session))) is None for view in live)
    unknown = unknown or any(
        each.cost is None and each.tokens is not None and day_of(each.at) == day
        for each in used.values()
    )
    return _more_missing(since(state.usage.spent, day, day), missing=unknown)


def today_words(state: State, now_us: int, budget: BudgetData | None = None) -> tuple[str, str]:
    """Writes today's cost and budget, for a narrow line and for a wide one."""
    known = today(state, now_us)
    if known.cost is None:
        return "cost ?", "cost ?"
    words = dollars(known.cost)
    short, long = (f"{words}{AT_LEAST}", f"at least {words}") if known.at_least else (words, words)
    if budget is None:
        return short, long
    limit = money(budget.limit_usd)
    if budget.level == "used-up":
        return f"{short} over budget", f"{long}, over the budget of {limit}"
    return f"{short} of {limit}", f"{long} of {limit}"


def written(known: Sum) -> str:
    """A sum as the console writes it, without what stands behind it."""
    return IN_THE_SUM if known.elsewhere else dollars(known.cost)


def dollars(cost: int | None) -> str:
    """Nano-dollars as the console writes money."""
    return UNKNOWN if cost is None else money(cost / NANO)


def part_dollars(cost: int | None) -> str:
    """Nano-dollars of one call or turn."""
    return UNKNOWN if cost is None else part_money(cost / NANO)


def over(state: State, first: int, day: int, of_today: Sum) -> Sum:
    """The cost of some days up to today: at least that, where any part of it is not known."""
    used = state.usage.sessions.values()
    ran = {*state.usage.ran, *(each.day for each in state.usage.spent)}
    unknown = of_today.at_least or any(each not in ran for each in range(first, day))
    unknown = unknown or any(each.cost is None and used_since(each, first) for each in used)
    return _more_missing(since(state.usage.spent, first, day), missing=unknown)


def since(spent: Sequence[Spent], first: int, last: int) -> Sum:
    """The cost of some days: nothing where none was told of them, though one is told at all."""
    parts = [each for each in spent if first <= each.day <= last]
    if parts or total(spent)[0] is None:
        return sum_of(parts)
    return Sum(0)


def sum_of(figures: Iterable[Figure]) -> Sum:
    """Figures added up, each of other calls than the others."""
    cost: int | None = None
    computed = 0
    kinds: set[Source] = set()
    missing = elsewhere = False
    for each in figures:
        # The tokens of a cost that was told under another model or day lack nothing.
        missing = missing or each.is_lower_bound or (each.cost is None and each.source == "unknown")
        if each.cost is None:
            elsewhere = elsewhere or each.source == "reported"
            continue
        cost = (cost or 0) + each.cost
        kinds.add(each.source)
        computed += each.cost if each.source == "computed" else 0
    mark = of_both(reported="reported" in kinds, computed="computed" in kinds)
    return Sum(cost, missing, computed, mark, elsewhere=cost is None and elsewhere and not missing)


def _more_missing(known: Sum, *, missing: bool) -> Sum:
    return msgspec.structs.replace(known, at_least=True) if missing else known


def _cost_of(used: SessionUsage | None) -> int | None:
    return used.cost if used is not None else None


def used_since(used: SessionUsage, first: int) -> bool:
    """Returns whether the session used anything on that day or later."""
    return any(each.day >= first for each in used.spent)

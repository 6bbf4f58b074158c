"""Sums of money over days, each with whether something is known to be missing in it."""

from __future__ import annotations

import msgspec

from watchgate.core.sessions import SessionState
from watchgate.core.state import State
from watchgate.core.usage import DAY_US, SessionUsage, Spent, total
from watchgate.core.usage_meter import NANO, nano
from watchgate.ui.formats import UNKNOWN, money

AT_LEAST = "+?"
"""Behind a sum, where there is no room to say that it is a lower bound."""


class Sum(msgspec.Struct, frozen=True):
    """A sum of money, None where nothing is known."""

    cost: int | None
    at_least: bool = False


def today(state: State, now_us: int) -> Sum:
    """What today cost; while no usage was folded, the sessions' own figures are added up."""
    day = now_us // DAY_US
    heard = state.sessions.values()
    live = [
        each for each in heard
        if each.state is not SessionState.GONE or each.seen_at // DAY_US == day
    ]  # fmt: skip
    used = state.usage.sessions
    if not used:
        told = [cost for view in live if (cost := nano(view.cost_usd)) is not None]
        return Sum(sum(told) if told or not live else None, len(told) < len(live))
    unknown = any(_cost_of(used.get((view.agent, view.session))) is None for view in live)
    unknown = unknown or any(
        each.cost is None and each.tokens is not None and each.at // DAY_US == day
        for each in used.values()
    )
    return Sum(since(state.usage.spent, day, day), unknown)


def today_words(state: State, now_us: int) -> tuple[str, str]:
    """What today cost, for a narrow line and for a wide one."""
    known = today(state, now_us)
    if known.cost is None:
        return "cost ?", "cost ?"
    words = dollars(known.cost)
    return (f"{words}{AT_LEAST}", f"at least {words}") if known.at_least else (words, words)


def dollars(cost: int | None) -> str:
    """Nano-dollars as the console writes money."""
    return UNKNOWN if cost is None else money(cost / NANO)


def over(state: State, first: int, day: int, of_today: Sum) -> Sum:
    """The cost of some days up to today: at least that, where any part of it is not known."""
    ran, used = set(state.usage.ran), state.usage.sessions.values()
    unknown = of_today.at_least or any(each not in ran for each in range(first, day))
    unknown = unknown or any(each.cost is None and used_since(each, first) for each in used)
    return Sum(since(state.usage.spent, first, day), unknown)


def since(spent: tuple[Spent, ...], first: int, last: int) -> int | None:
    """The cost of some days: nothing where none was told of them, though one is told at all."""
    parts = [each for each in spent if first <= each.day <= last]
    if parts or total(spent)[0] is None:
        return total(parts)[0]
    return 0


def _cost_of(used: SessionUsage | None) -> int | None:
    return used.cost if used is not None else None


def used_since(used: SessionUsage, first: int) -> bool:
    """Whether the session used anything on that day or later."""
    return any(each.day >= first for each in used.spent)

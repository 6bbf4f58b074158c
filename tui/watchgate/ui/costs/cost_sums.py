"""Sums of money, each with the sources of its figures and whether something is missing in it.

The source of a cost is marked by a letter or a word: the agent's own report, or computed by prices.
The cost of one session is by its usage, else as its agent reported it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import msgspec

from watchgate.core.base.amounts import UNKNOWN, money, part_money
from watchgate.core.model.records import BudgetData
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.sessions import SessionState
from watchgate.core.model.usage_records import Source
from watchgate.core.state.state import State
from watchgate.core.usage.session_usage import NANO, SessionUsage, Spent, nano, total
from watchgate.core.usage.usage_fold import UsageFold

LOWER_BOUND_MARK: Final = "+?"
"""Behind a figure, where there is no room to say that it is a lower bound."""

LETTERS: Final[dict[Source, str]] = {"reported": "r", "computed": "c", "unknown": ""}
WORDS: Final[dict[Source, str]] = {"reported": "reported", "computed": "computed", "unknown": ""}
LEGEND: Final = (
    ("$1.12 r", "as the agent reports it"),
    ("$0.41 c", "computed: tokens by list prices"),
    ("$0.31+?", "at least that"),
)
"""Figures as they are written, and what they mean."""
BRIEF: Final = ("r reported  c computed  +? at least", "r reported  c computed")
"""The marks behind figures, explained in one line beside them."""


def mark(source: Source, *, is_lower_bound: bool = False, word: bool = False) -> str:
    """Returns the mark behind a figure; the whole `word` of it where there is room."""
    text = (WORDS if word else LETTERS)[source]
    gap = " " if word and text else ""
    return f"{text}{gap}{LOWER_BOUND_MARK}" if is_lower_bound else text


def of_session(used: SessionUsage) -> Source:
    """Returns the source of the figures of a session's turns, sub-agents and calls."""
    return used.counted.source if used.counted is not None else used.source


def of_parts(used: SessionUsage, *, is_lower_bound: bool = False) -> str:
    """Returns the mark behind the figures of a session's turns and sub-agents."""
    return mark(of_session(used), is_lower_bound=is_lower_bound)


def of_both(*, reported: bool, computed: bool) -> str:
    """Marks a sum of several sessions' figures: `rc` where some are of each kind."""
    return "r" * reported + "c" * computed


IN_THE_SUM = "in the sum"
"""For a part of what an agent told one cost of."""


class Figure(Protocol):
    """One figure of a sum: nano-dollars, None where nobody knows them, and whose they are."""

    @property
    def cost(self) -> int | None:
        """The cost in nano-dollars, if known."""

    @property
    def source(self) -> Source:
        """Returns the source of the figure: reported, computed or unknown."""

    @property
    def is_lower_bound(self) -> bool:
        """Returns whether it is a lower bound."""


class Sum(msgspec.Struct, frozen=True):
    """A sum of money, None where nothing is known.

    `computed` of it (nano-dollars) is by prices; `mark` has a letter for each kind of figure in it.
    `elsewhere`: agents told one sum, which stands with another model.
    """

    cost: int | None
    is_lower_bound: bool = False
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
    short, long = (
        (f"{words}{LOWER_BOUND_MARK}", f"at least {words}")
        if known.is_lower_bound
        else (words, words)
    )
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
    """Writes nano-dollars as the console writes money."""
    return UNKNOWN if cost is None else money(cost / NANO)


def part_dollars(cost: int | None) -> str:
    """Writes nano-dollars of one call or turn."""
    return UNKNOWN if cost is None else part_money(cost / NANO)


def over(state: State, first: int, day: int, of_today: Sum) -> Sum:
    """The cost of some days up to today: at least that, where any part of it is not known."""
    used = state.usage.sessions.values()
    ran = {*state.usage.ran, *(each.day for each in state.usage.spent)}
    unknown = of_today.is_lower_bound or any(each not in ran for each in range(first, day))
    unknown = unknown or any(each.cost is None and used_since(each, first) for each in used)
    return _more_missing(since(state.usage.spent, first, day), missing=unknown)


def since(spent: Sequence[Spent], first: int, last: int) -> Sum:
    """Sums the cost of some days; nothing where other days alone have figures."""
    parts = [each for each in spent if first <= each.day <= last]
    if parts or total(spent)[0] is None:
        return sum_of(parts)
    return Sum(0)


def sum_of(figures: Iterable[Figure]) -> Sum:
    """Adds up figures, each of other calls than the others."""
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
    return msgspec.structs.replace(known, is_lower_bound=True) if missing else known


def _cost_of(used: SessionUsage | None) -> int | None:
    return used.cost if used is not None else None


def used_since(used: SessionUsage, first: int) -> bool:
    """Returns whether the session used anything on that day or later."""
    return any(each.day >= first for each in used.spent)


def short(usage: UsageFold, view: SessionView) -> str:
    """Writes the one figure, for a list without room for more; the pages name its source."""
    used = usage.sessions.get((view.agent, view.session))
    return money(view.cost_usd) if used is None or used.cost is None else dollars(used.cost)


def whole(usage: UsageFold, view: SessionView) -> str:
    """Writes the cost with its source, and next to it the figure of the other source."""
    used = usage.sessions.get((view.agent, view.session))
    if used is None or used.cost is None:
        return money(view.cost_usd) if used is None else _unknown(used)
    prefix = "at least " if used.is_lower_bound else ""
    words = f"{prefix}{dollars(used.cost)} {used.source}"
    other = used.computed_cost if used.source == "reported" else used.reported_cost
    kind = "computed" if used.source == "reported" else "reported"
    return f"{words}; {dollars(other)} {kind}, not added" if other is not None else words


def _unknown(used: SessionUsage) -> str:
    return f"{UNKNOWN}, no price for {', '.join(used.unpriced[:3])}" if used.unpriced else UNKNOWN

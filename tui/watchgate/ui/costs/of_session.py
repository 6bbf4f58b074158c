"""The cost of one session of the monitor: by its usage, else as its agent reported it."""

from __future__ import annotations

from watchgate.core.amounts import UNKNOWN, money
from watchgate.core.usage.fold import UsageFold
from watchgate.core.usage.session import SessionUsage
from watchgate.core.views import SessionView
from watchgate.ui.costs.sums import dollars


def short(usage: UsageFold, view: SessionView) -> str:
    """Its one figure, for a list without room for more; its pages say whose it is."""
    used = usage.sessions.get((view.agent, view.session))
    return money(view.cost_usd) if used is None or used.cost is None else dollars(used.cost)


def whole(usage: UsageFold, view: SessionView) -> str:
    """Its cost with whose figure it is, and the other one beside it."""
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

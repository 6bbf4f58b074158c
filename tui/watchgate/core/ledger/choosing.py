"""Whose figure a cost is: the agent's own, one by the table, or nobody's. Never a sum of two."""

from __future__ import annotations

from watchgate.core.ledger.counted import Source
from watchgate.core.ledger.figures import Figures


def source_of(figures: Figures) -> Source:
    """Whose cost to show of calls that belong together, such as those of one session.

    The agent's where it told one of every call; else the table's where that has a price of any;
    else the agent's of some of them.
    """
    if not figures.unreported and figures.calls:
        return "reported"
    if figures.unpriced < figures.calls:
        return "computed"
    return "reported" if figures.unreported < figures.calls else "unknown"


def cost_of(figures: Figures, source: Source) -> int | None:
    """The cost by that source in pico-dollars, None where it has none of any call."""
    if source == "reported" and figures.unreported < figures.calls:
        return figures.reported
    if source == "computed" and figures.unpriced < figures.calls:
        return figures.computed
    return None


def is_least(figures: Figures, source: Source) -> bool:
    """Whether the cost by that source is a lower bound: a call may have used more, or lacks one."""
    lacking = {"reported": figures.unreported, "computed": figures.unpriced, "unknown": 0}
    return bool(figures.least or lacking[source])

"""Whose figure a cost is: the agent's own, one by the table, or nobody's. Never a sum of two."""

from __future__ import annotations

from watchgate.core.ledger.counted import Source
from watchgate.core.ledger.figures import Figures

_REPORTED_PARTS, _COMPUTED_PARTS = 2, 3


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


def covers(reported: int, computed: int | None) -> bool:
    """Whether a session's cost so far that its agent told can be all of it (both in one unit).

    It cannot where the session's files tell of far more by the table of prices: a status line is
    gone, or told of nothing under the user's plan. Prices that changed differ by less than that.
    """
    return computed is None or computed * _REPORTED_PARTS <= reported * _COMPUTED_PARTS


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

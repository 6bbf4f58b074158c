"""The choice between two costs of the same calls: the agent's, or the table's; never a sum."""

from __future__ import annotations

from watchgate.core.ledger.counted import Source
from watchgate.core.ledger.figures import Figures

_REPORTED_PARTS, _COMPUTED_PARTS = 2, 3


def source_of(figures: Figures) -> Source:
    """Chooses whose cost to show of calls that belong together, such as those of one session.

    The agent's where it reported one of every call; else the table's where that has a price of any;
    else the agent's of some of them.
    """
    if not figures.unreported and figures.calls:
        return "reported"
    if figures.unpriced < figures.calls:
        return "computed"
    return "reported" if figures.unreported < figures.calls else "unknown"


def covers(reported: int, computed: int | None) -> bool:
    """Returns whether an agent's own cost can be all of its session's (both in one unit).

    It cannot where the session's files come to far more by the price table: a status line is gone,
    or reported nothing under the user's plan. Prices that changed differ by less than that.
    """
    return computed is None or computed * _REPORTED_PARTS <= reported * _COMPUTED_PARTS


def cost_of(figures: Figures, source: Source) -> int | None:
    """Returns the cost by that source in pico-dollars, None where it has none of any call."""
    if source == "reported" and figures.unreported < figures.calls:
        return figures.reported
    if source == "computed" and figures.unpriced < figures.calls:
        return figures.computed
    return None


def is_least(figures: Figures, source: Source) -> bool:
    """Returns whether the cost by that source is a lower bound: of some calls more is possible."""
    lacking = {"reported": figures.unreported, "computed": figures.unpriced, "unknown": 0}
    return bool(figures.lower_bounds or lacking[source])

"""Pictures of the Costs screen; compare an SVG's diff by eye."""

from __future__ import annotations

import msgspec

from tests.snapshots.test_pictures import Picture, Shown, picture, themed
from tests.ui.cost_picture import spending
from tests.ui.counted_picture import counting, unpriced, used_up
from tests.ui.picture import busy, quiet
from watchgate.core.usage.budget import DAY


async def costs(shown: Shown) -> None:
    """Opens the costs."""
    await shown.press("4")


async def a_session(shown: Shown) -> None:
    """Opens the page of the second session."""
    await shown.press("4", "j", "enter")


async def the_first_session(shown: Shown) -> None:
    """Opens the page of the first session."""
    await shown.press("4", "enter")


async def the_second(shown: Shown) -> None:
    """Goes to the second session."""
    await shown.press("4", "j")


def test_costs(snap_compare: Picture) -> None:
    """120x40: totals, shares in accent, context bars, `?` and "at least", no bar on the 17th."""
    assert picture(snap_compare, spending(), (120, 40), costs)


def test_costs_counted_from_transcripts(snap_compare: Picture) -> None:
    """120x40: `r` or `c` behind every figure, where it went in money, turns, limits, agents."""
    assert picture(snap_compare, counting(), (120, 40), costs)


def test_costs_on_a_wide_terminal(snap_compare: Picture) -> None:
    """160x45: words instead of letters, the last hour of every session as a sparkline."""
    assert picture(snap_compare, counting(), (160, 45), costs)


def test_costs_that_lack_something(snap_compare: Picture) -> None:
    """120x40: a model without a price is `?`, its session `c+?`; unreadable lines; budget used up.

    The strip says that the budget is used up, a chip what that means for calls.
    """
    snapshot = msgspec.structs.replace(busy(), usage=unpriced(), budgets={DAY: used_up()})
    assert picture(snap_compare, snapshot, (120, 40), the_second)


def test_costs_on_a_light_terminal_at_eighty_columns(snap_compare: Picture) -> None:
    """80x24, light: no model, share or cached column; the days below the sessions."""
    assert picture(snap_compare, spending(), (80, 24), costs, options=themed("light"))


def test_costs_on_the_smallest_terminal(snap_compare: Picture) -> None:
    """60x16: the totals, one line of limits, and the sessions with their marks."""
    assert picture(snap_compare, counting(), (60, 16), costs)


def test_no_usage_yet(snap_compare: Picture) -> None:
    """What each agent's usage is taken from; nothing unknown is shown as $0."""
    assert picture(snap_compare, quiet(), (80, 24), costs)


def test_a_session_of_its_own(snap_compare: Picture) -> None:
    """120x40 after Enter: cost, model, context, kinds of tokens, its days."""
    assert picture(snap_compare, spending(), (120, 40), a_session)


def test_a_session_with_both_figures(snap_compare: Picture) -> None:
    """120x40: the computed cost beside the reported one, kinds in money, turns, sub-agents."""
    assert picture(snap_compare, counting(), (120, 40), the_first_session)

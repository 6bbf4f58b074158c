"""Pictures of the Costs screen; compare an SVG's diff by eye."""

from __future__ import annotations

from tests.snapshots.test_pictures import Picture, Shown, picture, themed
from tests.ui.cost_picture import spending
from tests.ui.picture import quiet


async def costs(shown: Shown) -> None:
    """Opens the costs."""
    await shown.press("4")


async def a_session(shown: Shown) -> None:
    """Opens the page of the second session."""
    await shown.press("4", "j", "enter")


def test_costs(snap_compare: Picture) -> None:
    """120x40: totals, shares in accent, context bars, `?` and "at least", no bar on the 17th."""
    assert picture(snap_compare, spending(), (120, 40), costs)


def test_costs_on_a_light_terminal_at_eighty_columns(snap_compare: Picture) -> None:
    """80x24, light: no model, share or cached column; the days below the sessions."""
    assert picture(snap_compare, spending(), (80, 24), costs, options=themed("light"))


def test_no_usage_yet(snap_compare: Picture) -> None:
    """Which agents report what and how; nothing is estimated."""
    assert picture(snap_compare, quiet(), (80, 24), costs)


def test_a_session_of_its_own(snap_compare: Picture) -> None:
    """120x40 after Enter: cost, model, context, kinds of tokens, its days."""
    assert picture(snap_compare, spending(), (120, 40), a_session)

"""Pictures of the History screen; compare an SVG's diff by eye."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.snapshots.test_pictures import Picture, Shown, picture
from tests.ui.past_picture import answering, past
from tests.ui.picture import busy, quiet
from watchgate.ui.screens.history_screen import HistoryScreen

FILTER = "risk>=high -state:done since:7d"


def found(text: str, *keys: str, told: str = "") -> Callable[[Shown], Awaitable[None]]:
    """Opens the history, narrows it, presses keys, and waits until `told` stands there."""

    async def press(shown: Shown) -> None:
        shown.source.answer = answering(past())
        await shown.press("5")
        screen = shown.app.screen
        assert isinstance(screen, HistoryScreen)
        screen.narrow(text)
        await shown.until(lambda: screen.past.begun and not screen._seeker.busy)
        await shown.press(*keys)
        await shown.until(lambda: told in "".join(_texts(screen)))

    return press


def _texts(screen: HistoryScreen) -> list[str]:
    panes = (screen.detail, screen.empty)
    return [pane.render_line(y).text for pane in panes for y in range(pane.size.height)]


def test_an_alarm_in_the_history(snap_compare: Picture) -> None:
    """120x40: days, one red row, its timeline by record, what to do; the dock of one line."""
    press = found(FILTER, *"jjjj", told="doctor cursor")
    assert picture(snap_compare, busy(), (120, 40), press)


def test_the_history_at_eighty_columns(snap_compare: Picture) -> None:
    """80x24: neither agent nor who decided, no detail, no blank line between days."""
    assert picture(snap_compare, quiet(), (80, 24), found(FILTER, "j"))


def test_a_filter_that_nothing_passes(snap_compare: Picture) -> None:
    """How much was looked at, and the one condition without which calls pass."""
    press = found("tool:Bash risk:medium since:7d", told="without")
    assert picture(snap_compare, quiet(), (120, 40), press)

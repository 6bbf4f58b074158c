"""Pictures of the Approvals screen; compare an SVG's diff by eye."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.snapshots.test_pictures import Picture, Shown, picture, themed
from tests.ui.approvals_picture import approvals
from tests.ui.picture import CRITICAL, HIGH
from watchgate.ui.widgets.prompts.confirm_prompts import YesPrompt


def opened(request: str, *more: str) -> Callable[[Shown], Awaitable[None]]:
    """Opens the approvals, goes to a request, and waits until that counts as shown."""

    async def press(shown: Shown) -> None:
        await shown.press("2", *more)
        await shown.until(lambda: shown.app.operator.drawn_id == request)
        await shown.until(lambda: shown.app.operator.was_shown(request))

    return press


async def typing_yes(shown: Shown) -> None:
    """Asks to allow the critical request, and type two of the three letters."""
    await opened(CRITICAL)(shown)
    await shown.press("a")
    await shown.until(lambda: isinstance(shown.app.focused, YesPrompt))
    await shown.press("y", "e")


def test_a_critical_request_and_the_queue(snap_compare: Picture) -> None:
    """120x40: queue and settled list; parts, each with risk, carets and reason; facts; the yes."""
    assert picture(snap_compare, approvals(), (120, 40), typing_yes)


def test_the_approvals_on_a_light_terminal(snap_compare: Picture) -> None:
    """120x40: the light tokens; the cursor's row on its own ground, no prompt."""
    assert picture(snap_compare, approvals(), (120, 40), opened(CRITICAL), themed("light"))


def test_an_edit_among_the_approvals(snap_compare: Picture) -> None:
    """120x40: the file, old and new lines on their grounds, the hidden character reversed, why."""
    assert picture(snap_compare, approvals(), (120, 40), opened(HIGH, "tab"))


def test_the_approvals_at_eighty_columns(snap_compare: Picture) -> None:
    """80x24: one line for the queue, all other rows for the request."""
    assert picture(snap_compare, approvals(), (80, 24), opened(CRITICAL))

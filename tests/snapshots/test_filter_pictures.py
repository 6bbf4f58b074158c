"""Pictures of the filter bar; compare an SVG's diff by eye."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.snapshots.test_pictures import Picture, Shown, picture, themed
from tests.ui.picture import busy


def typed(text: str, *keys: str) -> Callable[[Shown], Awaitable[None]]:
    """Opens the bar, types a text and presses more keys."""

    async def press(shown: Shown) -> None:
        await shown.press("/")
        for character in text:
            await shown.press("space" if character == " " else character)
        await shown.settle()
        await shown.press(*keys)

    return press


def test_an_empty_filter(snap_compare: Picture) -> None:
    """120x40: the bar above the dock, the language by example in dim, its keys in the footer.

    The calls are all there and the request stays docked.
    """
    assert picture(snap_compare, busy(), (120, 40), typed(""))


def test_a_filter_being_completed(snap_compare: Picture) -> None:
    """120x40, light: `denied` was put in by Tab and is in accent among the others, which are dim.

    The table and its heading follow the filter.
    """
    keys = typed("risk>=high state:d", "tab", "tab")
    assert picture(snap_compare, busy(), (120, 40), keys, options=themed("light"))


def test_a_filter_with_a_fault(snap_compare: Picture) -> None:
    """80x24: four carets under `hgih`, why it is not taken, the last filter in force."""
    assert picture(snap_compare, busy(), (80, 24), typed("tool:Bash risk:hgih", "enter"))

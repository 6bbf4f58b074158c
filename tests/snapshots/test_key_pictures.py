"""Pictures of what the registry of keys makes: help, the palette, jump labels."""

from __future__ import annotations

from tests.snapshots.test_pictures import Picture, Shown, picture, themed
from tests.ui.picture import busy, quiet


async def labels(shown: Shown) -> None:
    """Asks for the labels, and lets them be drawn."""
    await shown.press("apostrophe")
    await shown.settle()


def test_jump_labels(snap_compare: Picture) -> None:
    """120x40: two letters in accent at every call and session, at the left end of its line."""
    assert picture(snap_compare, busy(), (120, 40), labels)


def test_help_at_eighty_columns(snap_compare: Picture) -> None:
    """80x24: two columns that fit, no word of them cut; j scrolls to the rest."""
    assert picture(snap_compare, busy(), (80, 24), lambda shown: shown.press("question_mark"))


def test_the_palette_on_a_light_terminal(snap_compare: Picture) -> None:
    """What was typed, the best match first; what cannot be done says why, fainter."""

    async def typed(shown: Shown) -> None:
        await shown.press("colon", "g", "a", "t", "e")

    assert picture(snap_compare, quiet(), (100, 30), typed, options=themed("light"))

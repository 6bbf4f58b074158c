"""Pictures of a console on a locked terminal, and of the prompts that unlock it."""

from __future__ import annotations

import pytest
from textual.widget import Widget

from tests.snapshots.test_pictures import Picture, Shown, Then, picture
from tests.ui.console_bench import LOCKED
from tests.ui.picture import busy
from tests.ui.widgets.prompts.locked_core import NO_PIN, core
from watchgate.link.protocol import Presence
from watchgate.ui.widgets.prompts.unlock_prompts import CodePrompt, ProofPrompt


def locked(presence: Presence, *keys: str, prompt: type[Widget] | None = None) -> Then:
    """The terminal is found locked, and these keys are pressed: the first opens the prompt."""

    async def then(shown: Shown) -> None:
        shown.source.presence = presence
        shown.source.answer = core(shown)
        await shown.app.unlocking._look()
        await shown.press(*keys[:1])
        await shown.until(lambda: prompt is None or isinstance(shown.app.focused, prompt))
        await shown.press(*keys[1:])

    return then


@pytest.mark.parametrize("size", [(80, 24), (220, 60)])
def test_a_locked_terminal(snap_compare: Picture, size: tuple[int, int]) -> None:
    """80x24 and 220x60: the word above, the key below, and all else as ever."""
    assert picture(snap_compare, busy(), size, locked(LOCKED))


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 40)])
def test_the_pin_is_typed_as_stars(snap_compare: Picture, size: tuple[int, int]) -> None:
    """60x16, 80x24 and 120x40: the request stays in the dock meanwhile."""
    then = locked(LOCKED, "U", "4", "7", "1", prompt=ProofPrompt)
    assert picture(snap_compare, busy(), size, then)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_the_code_and_where_to_type_it(snap_compare: Picture, size: tuple[int, int]) -> None:
    """80x24 and 120x40: no PIN is set, so another terminal has to vouch."""
    assert picture(snap_compare, busy(), size, locked(NO_PIN, "U", prompt=CodePrompt))

"""The footer: what the operator is told stands first, and no hint is ever cut."""

from __future__ import annotations

from tests.ui.widgets_app import Stage, texts
from watchgate.ui.keys.keymap import Hint
from watchgate.ui.widgets.key_bars import Footer

HINTS = (Hint("a", "allow", True), Hint("e", "edit", False), Hint("d", "deny", True))


async def drawn(cells: int, note: str = "") -> str:
    footer = Footer()
    async with Stage(footer).run_test(size=(cells, 2)):
        footer.show(HINTS, note)
        return texts(footer)[0].rstrip()


async def test_what_would_not_act_stands_in_parentheses() -> None:
    assert await drawn(60) == " a allow  (e edit)  d deny"


async def test_a_message_stands_before_as_many_hints_as_fit() -> None:
    assert await drawn(60, "#a41f denied") == " #a41f denied  a allow  (e edit)  d deny"
    assert await drawn(33, "#a41f denied") == " #a41f denied  a allow  (e edit)"
    assert await drawn(32, "#a41f denied") == " #a41f denied  a allow"
    assert await drawn(18, "#a41f denied") == " #a41f denied"


async def test_a_message_wider_than_the_screen_says_that_it_is_cut() -> None:
    assert await drawn(12, "#a41f denied") == " #a41f d..."


async def test_a_message_brings_no_control_sequence_onto_the_screen() -> None:
    assert "\x1b" not in await drawn(60, "\x1b[2Jgone")

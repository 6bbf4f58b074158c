"""The line of screens: what is special about the moment stands at its right, all that fits."""

from __future__ import annotations

import pytest

from tests.ui.widgets_app import Stage, texts
from watchgate.ui.widgets.key_bars import Chip, Tabs, TabsView

PAUSED = ("docs paused 0:42: 20 of its calls wait for an operator", "docs paused 0:42")
CHANGED = ("policy changed, not in force: watchgate policy reload", "policy changed")


async def drawn(cells: int, *chips: Chip) -> str:
    tabs = Tabs()
    async with Stage(tabs).run_test(size=(cells, 4)):
        tabs.show(TabsView(chips=chips))
        return texts(tabs)[0]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (200, f" {PAUSED[0]}   {CHANGED[0]} "),
        (160, f" {PAUSED[0]}   {CHANGED[1]} "),
        (110, f" {PAUSED[1]}   {CHANGED[1]} "),
    ],
)
async def test_a_pause_does_not_hide_what_is_wrong_with_the_policy(cells: int, words: str) -> None:
    assert (await drawn(cells, PAUSED, CHANGED)).rstrip().endswith(words.rstrip())


async def test_where_only_one_fits_it_is_the_first() -> None:
    line = await drawn(80, PAUSED, CHANGED)
    assert PAUSED[1] in line
    assert CHANGED[1] not in line


@pytest.mark.parametrize(("cells", "words"), [(120, CHANGED[0]), (80, CHANGED[1])])
async def test_one_alone_is_whole_where_the_line_is_wide(cells: int, words: str) -> None:
    assert (await drawn(cells, CHANGED)).rstrip().endswith(words)


async def test_nothing_stands_there_when_nothing_is_special() -> None:
    assert (await drawn(120)).rstrip().endswith("5 History")

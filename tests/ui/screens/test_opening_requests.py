"""An allow opens the docked request first, whatever page stands in front of it."""

from __future__ import annotations

import pytest

from tests.ui.console_bench import Bench, running
from tests.ui.picture import HIGH
from tests.ui.screens.test_approvals_screen import long_edit
from watchgate.ui.screens.payload_screen import DetailScreen


def asks_for_it(bench: Bench) -> bool:
    """Whether the docked request stands whole on top."""
    page = bench.app.screen
    return isinstance(page, DetailScreen) and page.row is None


@pytest.mark.parametrize(
    "keys",
    [("k", "k", "enter"), ("k", "k", "enter", "v"), ("s",), ("s", "v"), ("v", "v"), ("3",),
     ("question_mark",), ("2", "v")],
)  # fmt: skip
async def test_the_whole_request_is_opened_from_every_page(keys: tuple[str, ...]) -> None:
    async with running(long_edit()) as bench:
        for key in keys:
            await bench.press(key)
            await bench.until(lambda: bench.app.screen is bench.app.pages.top)
        await bench.press("a")
        await bench.until(lambda: asks_for_it(bench))
        await bench.settle()
        assert bench.app.operator.drawn_id == HIGH
        assert "a allows once all was shown" in bench.screen
        assert all(asked.verb != "decide" for asked in bench.source.asked)


async def test_the_page_of_a_call_says_that_an_allow_opens_the_request() -> None:
    async with running(long_edit()) as bench:
        await bench.press("k", "k", "enter")
        assert "a open to allow" in bench.screen

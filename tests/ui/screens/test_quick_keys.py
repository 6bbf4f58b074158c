"""Keys that are read faster than screens and prompts open: none is lost, none changes places."""

from __future__ import annotations

import pytest

from tests.ui.console_bench import Bench, pressed, running
from tests.ui.picture import busy, quiet
from watchgate.link.protocol import Snapshot
from watchgate.ui.screens.text_screens import CommandScreen

HELD = pytest.mark.parametrize("snapshot", [quiet(), busy()], ids=["nothing pending", "pending"])


def read(bench: Bench, *names: str) -> None:
    """All of them come out of the terminal at once."""
    for name in names:
        bench.app.post_message(pressed(name))


def where(bench: Bench) -> str:
    """The screen that is shown, once it is the one that was asked for."""
    top = bench.app.pages.top
    return top.where if bench.app.screen is top else ""


@HELD
async def test_a_filter_that_is_typed_at_once_is_whole(snapshot: Snapshot) -> None:
    async with running(snapshot) as bench:
        read(bench, "slash", "n", "p", "m", "enter")
        await bench.until(lambda: bench.app.desk.filter == "npm")
        assert not bench.source.asked


@HELD
async def test_a_screen_and_its_filter_are_opened_by_one_burst(snapshot: Snapshot) -> None:
    async with running(snapshot) as bench:
        read(bench, "5", "slash", "n", "p", "m")
        await bench.until(lambda: bench.app.pages.top.narrowed == "npm")
        assert bench.app.pages.top.where == "history"


@HELD
async def test_screens_follow_each_other_in_the_order_of_their_keys(snapshot: Snapshot) -> None:
    async with running(snapshot) as bench:
        read(bench, "2", "3", "1", "j", "4")
        await bench.until(lambda: bench.app.screen.is_running and where(bench) == "costs")
        read(bench, "escape", "question_mark", "escape", "5")
        await bench.until(lambda: bench.app.screen.is_running and where(bench) == "history")


async def test_a_command_that_is_typed_at_once_is_run() -> None:
    async with running(quiet()) as bench:
        read(bench, "colon", *"costs", "enter")
        await bench.until(lambda: bench.app.pages.top.where == "costs")
        assert not isinstance(bench.app.screen, CommandScreen)


@pytest.mark.parametrize("ends", ["escape", "enter"])
@pytest.mark.parametrize("opens", ["slash", "colon", "r"])
async def test_a_key_right_behind_a_prompt_acts_and_decides_nothing(opens: str, ends: str) -> None:
    async with running(busy()) as bench:
        await bench.press(opens)
        read(bench, *"costs", ends, "d", "2")
        await bench.until(lambda: bench.app.screen.is_running and where(bench) == "approvals")
        bench.clock.advance(1.0)
        await bench.settle()
        decided = [asked for asked in bench.source.asked if asked.verb == "decide"]
        assert len(decided) == (1 if (opens, ends) == ("r", "enter") else 0)


async def test_a_yes_that_was_typed_before_its_prompt_was_drawn_decides_nothing() -> None:
    async with running(busy()) as bench:
        await bench.press("a")
        await bench.until(lambda: bench.app.prompts.hints)
        read(bench, "escape", "a", "y", "e", "s", "enter")
        await bench.settle()
        bench.clock.advance(1.0)
        await bench.settle()
        assert not bench.source.asked

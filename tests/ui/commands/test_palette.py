"""The palette: found by name, key or words; what cannot be done says why; nothing is decided."""

from __future__ import annotations

import pytest

from tests.ui.console_bench import Bench, running
from tests.ui.open_requests import asked, pending
from tests.ui.picture import busy, quiet
from watchgate.ui.commands.key_registry import KEYS
from watchgate.ui.keys.keymap import Context, Keymap
from watchgate.ui.screens.costs_screen import CostsScreen
from watchgate.ui.widgets.command_list import CommandList


def found(typed: str) -> list[str]:
    """The commands that are listed for what was typed, the best first."""
    listed = CommandList(Keymap(KEYS), Context())
    listed._typed = typed
    return [key.id for key in listed._matches()]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("off", "gate_off"),
        ("gate off", "gate_off"),
        ("gof", "gate_off"),
        ("stop", "stop"),
        ("q", "detach"),
        ("quit", "detach"),
        ("exit", "leave"),
        ("theme light", "theme_light"),
        ("mono", "theme_mono"),
        ("hooks", "traces"),
        ("costs", "costs"),
        ("log lines", "log"),
        ("G", "bottom"),
        ("jump", "jump"),
    ],
)
def test_a_command_is_found_by_its_name_its_key_or_its_words(typed: str, first: str) -> None:
    assert found(typed)[0] == first


def test_nothing_typed_lists_everything_and_nonsense_nothing() -> None:
    listed = {key.id for key in KEYS if key.group != "replay"}
    assert set(found("")) == listed - {"back", "commands"}
    assert found("zzzz") == []


async def chosen(bench: Bench, typed: str) -> None:
    await bench.press("colon")
    await bench.type(typed)
    await bench.press("enter")
    await bench.settle()


async def test_what_does_nothing_now_says_why_in_the_list_and_when_chosen() -> None:
    async with running(quiet()) as bench:
        await bench.press("colon")
        await bench.type("start")
        assert "start a core: the core is running" in bench.screen
        await bench.press("enter")
        assert "the core is running" in bench.app.desk.note


async def test_a_command_of_one_screen_is_judged_where_the_palette_was_opened() -> None:
    async with running(quiet()) as bench:
        await bench.press("4")
        await chosen(bench, "window")
        assert isinstance(bench.app.screen, CostsScreen)
        assert "only in the costs" not in bench.app.desk.note


@pytest.mark.parametrize("name", ["allow", "deny", "deny_all", "handback", "allow_more", "edit"])
async def test_no_decision_is_made_from_the_list(name: str) -> None:
    every = ("allow", "deny", "handback", "edit", "stop")
    async with running(pending(asked(offered=every))) as bench:
        await chosen(bench, name)
        await bench.press("enter")
        assert not bench.source.asked
        assert not bench.app.prompts.hints


async def test_keys_that_decide_are_letters_in_the_list() -> None:
    async with running(busy()) as bench:
        await bench.press("colon")
        await bench.press("d", "a", "D", "A", "space")
        assert not bench.source.asked
        await bench.press("escape")
        assert bench.app.screen is bench.app.monitor

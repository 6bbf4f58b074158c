"""The filter bar: Tab completes in it and nowhere else, faults are pointed at, Esc clears."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.message import Message
from textual.pilot import Pilot

from tests.ui.console_bench import running
from tests.ui.picture import NOW_US, busy
from tests.ui.widgets_app import Stage, texts
from watchgate.core.filters.filter_completion import KnownValues
from watchgate.ui.base.theme import DARK
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.prompts.filter_bar import START, FilterBar, examples, proposals

pytestmark = pytest.mark.anyio
KNOWN = KnownValues(agents=("claude", "codex"), sessions=("api-fix",), tools=("Bash", "Read"))


class Heard(Stage):
    """Collects what the bar reports."""

    def __init__(self, bar: FilterBar) -> None:
        super().__init__(bar)
        self.bar = bar
        self.texts: list[str] = []
        self.left = 0

    def on_mount(self) -> None:
        self.bar.focus()

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        self.texts.append(message.text)

    def on_filter_bar_left(self, message: Message) -> None:
        self.left += 1


@asynccontextmanager
async def typing(
    text: str = "", recent: list[str] | None = None, cells: int = 100
) -> AsyncIterator[tuple[Heard, Pilot[Any]]]:
    """A bar in which this was typed."""
    app = Heard(FilterBar("", KNOWN, lambda: NOW_US, recent=recent))
    async with app.run_test(size=(cells, 24)) as pilot:
        await pilot.press(*(_key(character) for character in text))
        await pilot.pause()
        yield app, pilot


def _key(character: str) -> str:
    return "space" if character == " " else character


async def test_an_empty_bar_shows_the_language_by_example() -> None:
    async with typing() as (app, _):
        below = texts(app.bar)[1]
        assert below.startswith("    agent:codex   risk>=high   state:denied   since:2h")
        assert below.endswith("Tab lists the keys")


async def test_what_tab_takes_is_shown_in_accent_below() -> None:
    async with typing("tool:Bash ag") as (app, pilot):
        assert texts(app.bar)[1].startswith("    Tab agent:")
        accent = DARK.style("accent", "s2", bold=True)
        assert [s.text for s in app.bar.render_line(1) if s.style == accent] == ["agent:"]
        await pilot.press("tab")
        assert texts(app.bar)[0].rstrip() == "  / tool:Bash agent:"
        assert texts(app.bar)[1].startswith("    Tab claude  codex")


async def test_tab_goes_round_and_shift_tab_back() -> None:
    async with typing("agent:c") as (app, pilot):
        seen = []
        for key in ("tab", "tab", "tab", "shift+tab"):
            await pilot.press(key)
            seen.append(texts(app.bar)[0].split("agent:")[1].strip())
        assert seen == ["claude", "codex", "claude", "codex"]
        assert app.texts[-1] == "agent:codex"
        assert app.left == 0


async def test_a_key_after_tab_goes_on_from_there() -> None:
    async with typing("agent:c") as (app, pilot):
        await pilot.press("tab", "tab", "space", "r", "i", "tab")
        assert app.texts[-1] == "agent:codex "
        assert texts(app.bar)[0].rstrip().endswith("agent:codex risk:")


async def test_what_is_not_yet_finished_is_no_fault_and_changes_nothing() -> None:
    async with typing("risk:hi") as (app, pilot):
        assert texts(app.bar)[1].startswith("    Tab high")
        assert app.texts == []
        await pilot.press("g", "h")
        await pilot.pause()
        assert app.texts[-1] == "risk:high"


async def test_the_letters_of_a_key_are_looked_for_once_they_are_a_word() -> None:
    async with typing("-ris") as (app, pilot):
        assert app.texts == []
        await pilot.press("enter")
        await pilot.pause()
        assert (app.texts, app.left) == (["-ris"], 1)
    async with typing("risky") as (app, _):
        assert app.texts == ["risky"]


async def test_a_value_that_is_half_typed_empties_no_list() -> None:
    async with typing("tool:Ba") as (app, pilot):
        assert texts(app.bar)[1].startswith("    Tab Bash")
        assert app.texts == []
        await pilot.press("s", "h")
        await pilot.pause()
        assert app.texts == ["tool:Bash"]
    async with typing("tool:Ba") as (app, pilot):
        await pilot.press("enter")
        await pilot.pause()
        assert (app.texts, app.left) == (["tool:Ba"], 1)


async def test_enter_on_a_fault_says_why_it_is_not_taken() -> None:
    async with typing("risk:hi") as (app, pilot):
        await pilot.press("enter")
        line, below = texts(app.bar)
        assert app.left == 0
        assert below[line.index("hi", 8) :].startswith("^^ not taken: unknown")
        await pilot.press("g", "h", "enter")
        await pilot.pause()
        assert app.left == 1


@pytest.mark.parametrize("cells", [60, 80, 120])
@pytest.mark.parametrize(
    ("text", "wrong"),
    [("colour:red tool:Bash", "colour"), ("tool:Bash agent>=x tool:Read ", "agent>=")],
)
async def test_a_fault_is_underlined_from_end_to_end(text: str, wrong: str, cells: int) -> None:
    async with typing(text, cells=cells) as (app, _):
        line, below = texts(app.bar)
        assert below.index("^") == line.index(wrong)
        assert below.count("^") == len(wrong)


async def test_carets_stand_below_what_takes_two_cells() -> None:
    async with typing('"\u6f22\u5b57" zzz:1') as (app, _):
        assert texts(app.bar)[1].index("^") == START + 1 + 4 + 1 + 1


async def test_escape_clears() -> None:
    async with typing("tool:Bash zzz:1") as (app, pilot):
        await pilot.press("escape")
        await pilot.pause()
        assert app.texts[-1] == ""
        assert app.left == 1


async def test_up_and_down_bring_back_what_was_kept() -> None:
    recent = ["agent:codex", "risk>=high"]
    async with typing("tool:Bash", recent) as (_, pilot):
        await pilot.press("enter")
        await pilot.pause()
        assert recent == ["agent:codex", "risk>=high", "tool:Bash"]
    async with typing("", recent) as (app, pilot):
        shown = []
        for key in ("up", "up", "up", "up", "down"):
            await pilot.press(key)
            shown.append(texts(app.bar)[0][START:].strip())
        assert shown == ["tool:Bash", "risk>=high", "agent:codex", "agent:codex", "risk>=high"]


async def test_what_was_typed_comes_back_below_the_newest() -> None:
    async with typing("tool:Ba", ["agent:codex"]) as (app, pilot):
        shown = []
        for key in ("up", "down"):
            await pilot.press(key)
            shown.append(texts(app.bar)[0][START:].strip())
        assert shown == ["agent:codex", "tool:Ba"]


async def test_times_are_read_by_the_clock_of_the_console() -> None:
    async with typing("since:2h") as (app, _):
        assert app.texts[-1] == "since:2h"


async def test_tab_in_the_bar_docks_no_other_request() -> None:
    async with running(busy()) as bench:
        docked = bench.app.desk.docked
        await bench.press("/")
        await bench.type("to")
        await bench.press("tab", "tab", "shift+tab")
        assert bench.app.desk.docked == docked
        assert isinstance(bench.app.focused, FilterBar)
        assert "/ tool:" in bench.screen
        await bench.press("escape")
        assert bench.app.desk.filter == ""
        await bench.press("tab")
        assert bench.app.desk.docked != docked


async def test_letters_in_the_bar_decide_nothing() -> None:
    async with running(busy()) as bench:
        await bench.press("/", *"dDaAb")
        assert "decide" not in [request.verb for request in bench.source.asked]
        assert "/ dDaAb" in bench.screen


@given(
    st.lists(st.text("ab-\u6f22", min_size=1, max_size=30), min_size=1, max_size=8),
    st.integers(0, 7),
    st.integers(24, 120),
)
def test_the_proposals_never_leave_their_line_and_hold_the_chosen_one(
    words: list[str], chosen: int, cells: int
) -> None:
    chosen %= len(words)
    line = proposals(StyledLine(DARK), words, chosen, START, cells)
    assert line.left_cells <= cells
    accent = DARK.style("accent", "bg", bold=True)
    assert [s.text for s in line._left if s.style == accent]
    assert examples(StyledLine(DARK), START, cells).left_cells <= cells

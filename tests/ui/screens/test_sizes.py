"""Every screen at every size: lines fit, hints are whole, wide text keeps to its column."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from tests.ui.console_bench import Bench, running
from tests.ui.foreign import WORDS, everything, foreign, foreign_past, longest
from tests.ui.past_picture import answering, past
from tests.ui.picture import CRITICAL, HIGH, busy, quiet
from tests.ui.sizes import SIZES, TINY, check, columns, lines, resize
from watchgate.ui.screens.costs_screen import CostsScreen
from watchgate.ui.screens.history_screen import HistoryScreen
from watchgate.ui.screens.traces_screen import TracesScreen
from watchgate.ui.widgets.prompts.typed_prompts import ReplyPrompt

SCREENS = ("monitor", "approvals", "traces", "costs", "history")
PAGES = (("v",), ("v", "v"), ("question_mark",), ("3", "enter"), ("4", "enter"), ("5", "enter"))
PROMPTS = (("colon",), ("apostrophe",), ("slash",), ("r",), ("A",), ("e",), ("D",), ("a",), ("s",))
FEW = ((60, 16), (200, 60), (20, 4), (100, 30))

WHERE_COLUMNS_ARE = {
    "monitor": frozenset({"done", "waits", "failed", "timed", "!!!"}),
    "traces": frozenset({"policy", "!!!"}),
    "costs": frozenset({"$1.12", "$0.41", "$0.31", "62", "41"}),
    "history": frozenset({"timed", "denied", "!!!", "!!"}),
}
"""Words of the screens in columns behind those that hold names from outside."""


async def open_(bench: Bench, *actions: str) -> None:
    """Goes to a screen or page, from wherever the console is."""
    for action in ("back", "back", "monitor", *actions):
        bench.app.perform(action)
        await bench.settle()
    screen = bench.app.screen
    if isinstance(screen, HistoryScreen):
        await bench.until(lambda: screen.past.begun and not screen._seeker.busy)
        await bench.settle()


async def test_every_screen_fits_every_size() -> None:
    async with running(everything()) as bench:
        bench.source.answer = answering(past())
        for name in SCREENS:
            await open_(bench, name)
            for size in (*SIZES, *TINY) if name in ("monitor", "approvals") else FEW:
                await resize(bench, size)
                check(bench)


async def test_every_page_and_prompt_fits_every_size() -> None:
    for keys in (*PAGES, *PROMPTS):
        async with running(everything()) as bench:
            bench.source.answer = answering(past())
            await bench.press(*keys)
            for size in FEW:
                await resize(bench, size)
                check(bench)


@pytest.mark.parametrize("snapshot", [longest, quiet], ids=["endless", "nothing pending"])
async def test_lines_without_an_end_fit_and_so_does_nothing_at_all(
    snapshot: Callable[[], object],
) -> None:
    async with running(snapshot()) as bench:  # type: ignore[arg-type]
        for name in ("monitor", "approvals", "view"):
            await open_(bench, name)
            for size in FEW:
                await resize(bench, size)
                check(bench)


async def placed(words: str | None) -> dict[tuple[str, tuple[int, int]], dict[str, set[int]]]:
    """Where the columns of each screen begin, with names of the picture or with others."""
    found = {}
    plain = everything()
    rows = past() if words is None else foreign_past(words)
    async with running(plain if words is None else foreign(plain, words)) as bench:
        bench.source.answer = answering(rows)
        for screen, behind in WHERE_COLUMNS_ARE.items():
            await open_(bench, screen)
            for size in ((60, 24), (160, 45)):
                await resize(bench, size)
                check(bench)
                found[screen, size] = columns(bench, behind)
    return found


async def test_wide_and_hostile_names_keep_to_their_columns() -> None:
    plain = await placed(None)
    assert all(any(at.values()) for at in plain.values())
    for words in (WORDS[0] + WORDS[1], "".join(WORDS[2:])):
        for where, told in (await placed(words)).items():
            for word, cells in told.items():
                assert cells <= plain[where].get(word, set()), (words, where, word)


async def test_a_name_without_an_end_runs_into_nothing() -> None:
    async with running(foreign(everything(), WORDS[0] * 9)) as bench:
        for size in ((60, 24), (80, 24), (120, 40)):
            await resize(bench, size)
            rows = [line for line in lines(bench) if "? waits" in line]
            assert len(rows) == 2
            assert all(" ? waits " in row for row in rows)
            assert any(
                line.rstrip().endswith((" 1 of 2", " denied in 0:23")) for line in lines(bench)
            )


async def test_a_storm_of_sizes_moves_no_cursor() -> None:
    rng = Random(7)
    async with running(everything()) as bench:
        bench.source.answer = answering(past())
        app = bench.app
        await bench.press("tab", *"kkkkkkk")
        table, docked = app.monitor.table, app.desk.docked
        chosen = table.selected
        assert chosen is not None
        assert docked == HIGH

        async def storm() -> None:
            for _ in range(5):
                await resize(bench, rng.choice((*SIZES, *TINY)))
            await resize(bench, (120, 40))
            check(bench)

        await storm()
        assert (table.selected, table.follow, app.desk.docked) == (chosen, False, docked)
        await open_(bench, "traces", *("down",) * 2)
        traces = app.screen
        assert isinstance(traces, TracesScreen)
        call = traces.selected
        await storm()
        assert traces.selected == call is not None
        await open_(bench, "costs", *("down",) * 2)
        costs = app.screen
        assert isinstance(costs, CostsScreen)
        row = costs.table.selected
        await storm()
        assert row is not None
        assert costs.table.selected is not None
        assert costs.table.selected.key == row.key
        await open_(bench, "history", *("down",) * 3)
        history = app.screen
        assert isinstance(history, HistoryScreen)
        found = history.selected
        await storm()
        assert history.selected == found is not None
        await open_(bench, "approvals")
        await storm()
        assert app.desk.docked == docked


async def test_a_storm_of_sizes_keeps_what_was_typed_and_decides_nothing() -> None:
    rng = Random(11)
    async with running(busy()) as bench:
        await bench.press("r")
        await bench.type("use a mirror")
        for _ in range(6):
            await resize(bench, rng.choice((*SIZES, *TINY)))
        await resize(bench, (120, 40))
        prompt = bench.app.prompts._open
        assert isinstance(prompt, ReplyPrompt)
        assert "use a mirror" in bench.screen
        assert bench.app.desk.docked == CRITICAL
        assert not bench.source.asked

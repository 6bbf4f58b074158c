"""The mouse is a help and never needed: it moves cursors and scrolls, and it decides nothing."""

from __future__ import annotations

import pytest
from textual.events import MouseScrollDown, MouseScrollUp
from textual.widget import Widget

from tests.ui.console_bench import Bench, running
from tests.ui.foreign import everything
from tests.ui.past_picture import answering, past
from tests.ui.picture import CRITICAL, HIGH, busy
from watchgate.ui.screens.approvals_screen import ApprovalsScreen
from watchgate.ui.screens.costs_screen import CostsScreen
from watchgate.ui.screens.history_screen import HistoryScreen
from watchgate.ui.screens.traces_screen import TracesScreen

SCREENS = ("monitor", "approvals", "traces", "costs", "history")


async def click(bench: Bench, x: int, y: int) -> None:
    """Click a cell of the screen."""
    await bench.pilot.click(offset=(x, y))
    await bench.settle()


async def wheel(bench: Bench, widget: Widget, *, down: bool) -> None:
    """Turns the wheel once above a widget."""
    kind = MouseScrollDown if down else MouseScrollUp
    event = kind(widget, 1, 3, 0, 0, 0, False, False, False)
    await widget._on_message(event)
    await bench.settle()


@pytest.mark.parametrize("screen", SCREENS)
async def test_no_click_anywhere_decides(screen: str) -> None:
    async with running(everything()) as bench:
        bench.source.answer = answering(past())
        bench.app.perform(screen)
        await bench.settle()
        for y in range(0, 40, 3):
            for x in (1, 60):
                await bench.pilot.click(offset=(x, y))
        for _ in range(3):
            bench.clock.advance(1.0)
            await bench.settle()
        assert {request.verb for request in bench.source.asked} <= {"search"}
        assert set(bench.app.bridge.state.pending) == {CRITICAL, HIGH}


async def test_a_click_on_a_call_puts_the_cursor_there_and_the_wheel_leaves_it() -> None:
    async with running(busy()) as bench:
        table = bench.app.monitor.table
        await click(bench, table.region.x + 5, table.region.y + 4)
        chosen = table.selected
        assert chosen is not None
        assert chosen.summary in table.render_line(4).text
        assert bench.app.desk.docked == CRITICAL
        await wheel(bench, table, down=False)
        assert table.selected == chosen


async def test_clicks_and_keys_reach_the_same_lines() -> None:
    async with running(everything()) as bench:
        bench.source.answer = answering(past())
        app = bench.app
        await bench.press("2")
        approvals = app.screen
        assert isinstance(approvals, ApprovalsScreen)
        place = next(jump for jump in approvals.jumps() if jump.y > approvals.queue.region.y + 4)
        await click(bench, place.x + 3, place.y)
        assert app.desk.docked == HIGH
        await bench.press("3")
        traces = app.screen
        assert isinstance(traces, TracesScreen)
        first, *_ = traces.jumps()
        await click(bench, first.x + 4, first.y)
        by_click = traces.selected
        await bench.press("g")
        assert traces.selected == by_click is not None
        await bench.press("4")
        costs = app.screen
        assert isinstance(costs, CostsScreen)
        *_, last = costs.jumps()
        await click(bench, last.x + 4, last.y)
        assert costs.table.selected == costs.table.rows[-1]
        await bench.press("5")
        history = app.screen
        assert isinstance(history, HistoryScreen)
        await bench.until(lambda: history.past.begun and not history._seeker.busy)
        await bench.settle()
        *_, last = history.jumps()
        await click(bench, last.x + 4, last.y)
        assert history.selected is not None
        assert history.selected.at < past()[0].at


async def test_a_click_amid_typing_decides_nothing() -> None:
    async with running(busy()) as bench:
        for key in ("d", "e", "n"):
            bench.clock.advance(0.05)
            await bench.pilot.press(key)
            await bench.pilot.click(offset=(60, 20))
        bench.clock.advance(2.0)
        await bench.settle()
        assert not bench.source.asked


async def test_a_click_leaves_what_is_typed_in_a_prompt_alone() -> None:
    async with running(busy()) as bench:
        await bench.press("r")
        await bench.type("use a mirror")
        for y in range(0, 40, 4):
            await bench.pilot.click(offset=(50, y))
        await bench.settle()
        assert "use a mirror" in bench.screen
        await bench.type("!")
        await bench.settle()
        assert "use a mirror!" in bench.screen
        assert not bench.source.asked

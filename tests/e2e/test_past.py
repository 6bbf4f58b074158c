"""The history of a real core: what it recorded, on the screen and record by record."""

from __future__ import annotations

from tests.e2e.programs import Core, bash
from tests.e2e.test_console_keys import console, ended, held
from watchgate.ui.screens.history_screen import HistoryScreen


async def test_what_was_decided_stands_in_the_history_and_in_its_timeline(core: Core) -> None:
    core.configure('profile = "strict"\n')
    core.start()
    async with console(core) as hands:
        hook = await held(hands, core, "git push --force origin main", "c1")
        await hands.press("d")
        await ended(hook)
        await hands.press("5")
        screen = hands.app.screen
        assert isinstance(screen, HistoryScreen)
        await hands.until(lambda: screen.past.begun)
        await hands.settle()
        assert "x denied          you" in hands.screen
        assert "today" in hands.screen
        await hands.until(lambda: "x denied by operator" in hands.screen)
        for told in ("asked", "? held", "record "):
            assert told in hands.screen

        again = await held(hands, core, "git reset --hard", "c2")
        await hands.until(lambda: "? pending" in hands.screen)
        assert screen.selected is not None
        assert screen.selected.call == "c1", "the cursor stays with its call"
        await hands.press("d")
        await ended(again)
        await hands.until(lambda: hands.screen.count("x denied ") >= 2)

        await hands.press("slash")
        await hands.type("call:c2 by:operator")
        await hands.press("enter")
        await hands.until(lambda: "1 of " in hands.screen)
        assert bash("x")["tool_name"] in hands.screen

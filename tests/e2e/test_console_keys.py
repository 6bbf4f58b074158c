"""The console's keys on a real core: allow for more, edit, several together; the agent is told."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
import pytest

from tests.e2e.programs import Core, Finished, Hook, bash
from tests.ui.console_bench import OPTIONS, Hands, keys_as_pressed
from tests.ui.fake_source import FakeClock
from watchgate.service.system.system_clock import SystemClock
from watchgate.ui.console.app import WatchgateApp
from watchgate.ui.source.record_source import LinkSource


@pytest.fixture
def strict(core: Core) -> Core:
    """A core that asks about everything which no rule allows."""
    core.configure('profile = "strict"\n')
    core.start()
    return core


@asynccontextmanager
async def console(core: Core) -> AsyncIterator[Hands]:
    """A console in front of the core, its keys timed by a clock of the test's."""
    keys = FakeClock(0)
    source = LinkSource(core.runtime / "control.sock")
    hands = Hands(WatchgateApp(source, SystemClock(), OPTIONS, keys.now_s), keys)
    with keys_as_pressed():
        async with hands.app.run_test(size=(120, 40)) as pilot:
            hands.pilot = pilot
            await hands.until(lambda: hands.app.bridge.link.state == "attached")
            yield hands


async def held(hands: Hands, core: Core, command: str, call: str) -> Hook:
    """A call that waits for the operator, drawn by the console."""
    before = len(hands.app.bridge.state.pending)
    hook = core.hook("PreToolUse", bash(command) | {"tool_use_id": call})
    await hands.until(lambda: len(hands.app.bridge.state.pending) == before + 1)
    await hands.settle()
    await hands.until(lambda: hands.app.operator.drawn_id)
    return hook


async def ended(hook: Hook) -> Finished:
    done: Finished = await anyio.to_thread.run_sync(hook.done)
    return done


def told(done: Finished) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(done.out)["hookSpecificOutput"]
    return answer


async def test_a_call_allowed_for_the_session_is_not_asked_about_again(strict: Core) -> None:
    async with console(strict) as hands:
        hook = await held(hands, strict, "frobnicate build a", "c1")
        await hands.press("A")
        await hands.until(lambda: "exactly this call" in hands.screen)
        await hands.press("2", "a")
        assert told(await ended(hook))["permissionDecision"] == "allow"
        again = strict.hook("PreToolUse", bash("frobnicate build a") | {"tool_use_id": "c2"})
        assert told(await ended(again))["permissionDecision"] == "allow"
    (grant,) = strict.cli("grants", "--json").lines
    assert (grant["scope"], grant["hits"]) == ("session", 1)


async def test_always_is_offered_after_three_and_gives_the_rule_that_was_shown(
    strict: Core,
) -> None:
    async with console(strict) as hands:
        for what in "abc":
            hook = await held(hands, strict, f"frobnicate build {what}", what)
            await hands.press("a")
            await ended(hook)
            await hands.until(lambda: not hands.app.bridge.state.pending)
        hook = await held(hands, strict, "frobnicate build d", "d")
        await hands.press("A")
        await hands.until(lambda: "exactly this call" in hands.screen)
        await hands.press("4")
        await hands.until(lambda: "frobnicate build *" in hands.screen)
        assert "3 calls on record would have matched" in hands.screen
        await hands.press("a")
        assert told(await ended(hook))["permissionDecision"] == "allow"
        other = strict.hook("PreToolUse", bash("frobnicate build e") | {"tool_use_id": "e"})
        assert told(await ended(other))["permissionDecision"] == "allow"


async def test_an_edited_command_is_what_the_agent_is_told_to_run(strict: Core) -> None:
    async with console(strict) as hands:
        hook = await held(hands, strict, "frobnicate build a", "c1")
        await hands.press("e")
        await hands.until(lambda: "nothing runs before" in hands.screen)
        await hands.type("bc")
        await hands.pilot.press("enter")
        await hands.until(lambda: "+ frobnicate build abc" in hands.screen)
        await hands.settle()
        await hands.press("a")
        answer = told(await ended(hook))
        assert answer["permissionDecision"] == "allow"
        assert answer["updatedInput"]["command"] == "frobnicate build abc"


async def test_an_edit_that_became_graver_is_not_allowed_by_one_key(strict: Core) -> None:
    async with console(strict) as hands:
        hook = await held(hands, strict, "frobnicate build a", "c1")
        await hands.press("e")
        await hands.until(lambda: "nothing runs before" in hands.screen)
        await hands.type(" && git push --force")
        await hands.pilot.press("enter")
        await hands.until(lambda: "HIGH" in hands.screen)
        await hands.settle()
        await hands.press("a")
        await hands.until(lambda: "a again allows it" in hands.screen)
        assert hook.waits
        await hands.press("d")
        assert (await ended(hook)).code == 2


async def test_marked_calls_are_allowed_together_and_the_third_still_waits(strict: Core) -> None:
    async with console(strict) as hands:
        hooks = [await held(hands, strict, f"frobnicate build {what}", what) for what in "abc"]
        docked = []
        for _ in range(2):
            docked.append(hands.app.operator.drawn_id)
            await hands.press("space", "tab")
        await hands.press("shift+tab", "a")
        await hands.until(lambda: "once each: 2 requests" in hands.screen)
        await hands.settle()
        await hands.press("a")
        await hands.until(lambda: len(hands.app.bridge.state.pending) == 1)
        assert not set(docked) & set(hands.app.bridge.state.pending)
        await hands.until(lambda: sum(hook.waits for hook in hooks) == 1)

"""The same agents, handlers and answers: with a screen, without one, and decided again."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.e2e.programs import Core, Hook, bash, until
from watchgate.agents.registry import ADAPTERS
from watchgate.core.model.records import Record
from watchgate.link.paths import Paths, paths
from watchgate.service.host.core_host import hosted
from watchgate.service.replaying.replay_comparison import (
    ReplayResult,
    decide_again,
    replay_gates,
    replay_handlers,
)
from watchgate.service.system.config_file import read_config
from watchgate.service.system.system_clock import SystemClock
from watchgate.ui.console.app import WatchgateApp
from watchgate.ui.source.record_source import LinkSource
from watchgate.ui.view_model.console_options import Options

GUARD = """#!/bin/sh
read -r event
case "$event" in
  *nope*) echo '{"decision": "block", "reason": "the guard says no"}' ;;
  *please*) echo '{"decision": "ask", "reason": "the guard is not sure"}' ;;
esac
"""
CONFIG = """
[[handler]]
id = "guard"
on = ["tool.pre"]
command = ["{guard}"]
[[handler]]
id = "log"
on = ["tool.pre", "tool.post"]
role = "observer"
command = ["/bin/true"]
"""
DENIED, ASKED, RISKY, PLAIN = "echo nope", "echo please", "git push --force", "ls"
ANSWERS = {ASKED: ("deny", "d"), RISKY: ("allow", "aa")}


@pytest.fixture
def places(core: Core, tmp_path: Path) -> Paths:
    """The configuration with a guard and a log is in force wherever a core starts."""
    guard = tmp_path / "guard.sh"
    guard.write_text(GUARD)
    guard.chmod(guard.stat().st_mode | stat.S_IXUSR)
    core.configure(CONFIG.format(guard=guard))
    return paths(os.environ)


def play(core: Core, answer: Callable[[str], None]) -> None:
    """The agent's side: four calls, one after the other, and the results of those that ran."""
    for number, command in enumerate((DENIED, ASKED, RISKY, PLAIN), 1):
        call = f"call-{number}"
        hook: Hook = core.hook("PreToolUse", bash(command, call))
        if command in ANSWERS:
            answer(command)
        denied = hook.done().code == 2
        assert denied is (command in (DENIED, ASKED))
        if not denied:
            result = {**bash(command, call), "tool_response": {"stdout": "done"}}
            core.hook("PostToolUse", result, lane="observe").done()
    until(lambda: traces(core) == 6, "a trace for each call and each result")


def traces(core: Core) -> int:
    return sum(record["kind"] == "hook.trace" for record in core.records())


TIMED = frozenset(
    "at seq core prev hash v request took_ms start_ms duration_ms limit_s run waited_s by timeout_s"
    " deadline_s deadline_at agent_pid env actor".split()
)


def told(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """What was decided about each call and what is in its traces, without times, ids and names.

    By call: an observer that ends late traces late, and then the order of two calls may differ.
    What a call would touch is looked up beside the decision, and decides nothing.
    """
    found: dict[str, list[Any]] = {}
    for record in records:
        if record.get("call") and record["kind"] != "approval.facts":
            found.setdefault(record["call"], []).append(timeless(record))
    return {call: sorted(each, key=repr) for call, each in found.items()}


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(part) for key, part in value.items() if key not in TIMED}
    if isinstance(value, list | tuple):
        return [timeless(part) for part in value]
    return value


def without_screen(core: Core) -> list[dict[str, Any]]:
    core.start()

    def answer(command: str) -> None:
        (line,) = core.pending(1)
        verb = ANSWERS[command][0]
        more = ["--digest", line["digest"]] if verb == "allow" else []
        assert core.cli(verb, line["id"], *more).code == 0

    play(core, answer)
    return core.records()


def with_screen(core: Core, places: Paths) -> list[dict[str, Any]]:
    """The console and its core in one process, driven by keys."""

    async def console(pressed: asyncio.Queue[str]) -> None:
        app = WatchgateApp(LinkSource(places.control_socket), SystemClock(), Options(hosted=True))
        async with app.run_test(size=(120, 40)) as pilot:
            while keys := await pressed.get():
                while app.operator.drawn_id not in app.bridge.state.pending:
                    await pilot.pause(0.05)
                for key in keys:
                    await pilot.pause(0.9)  # a request has to have been seen for 600 ms
                    await pilot.press(key)
                while app.bridge.state.pending:
                    await pilot.pause(0.05)

    async def run() -> None:
        pressed: asyncio.Queue[str] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def answer(command: str) -> None:
            loop.call_soon_threadsafe(pressed.put_nowait, ANSWERS[command][1])

        screen = asyncio.ensure_future(console(pressed))  # noqa: TID251 - awaited below
        try:
            await asyncio.to_thread(play, core, answer)
        finally:
            await pressed.put("")
        await screen

    with hosted(places, read_config(places)):
        core.prove()
        asyncio.run(run())
        return core.records()


def again(core: Core, places: Paths) -> ReplayResult:
    """What the core recorded, decided again: nothing runs, nobody is asked."""
    config = read_config(places)
    records = msgspec.convert(core.records(), list[Record])
    found = replay_handlers(places, config, os.environ)
    return decide_again(records, config, replay_gates(places, config), found, ADAPTERS)


def test_core_11_with_a_screen_or_without_one_the_same_is_decided_and_traced(
    core: Core, places: Paths
) -> None:
    interactive = told(with_screen(core, places))
    for path in places.state_dir.iterdir():
        path.unlink()
    headless = told(without_screen(core))
    assert headless == interactive
    decided_again = again(core, places)
    assert decided_again.differences == ()
    assert decided_again.decided == 6
    assert decided_again.left_out == {}
    kinds = [record["kind"] for call in headless.values() for record in call]
    assert kinds.count("hook.trace") == 6
    assert kinds.count("approval.decided") == 2

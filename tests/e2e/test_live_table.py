"""The live table of a console has every call that a real core's journal has, after any burst."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

import anyio

from tests.e2e.programs import WAIT_S, Core
from tests.e2e.test_sources import lines, tap
from watchgate.service.system.system_clock import SystemClock
from watchgate.ui.source.core_bridge import Bridge
from watchgate.ui.source.record_source import LinkSource

CALLS = 60
DELTAS = 30


async def come_about(ready: Callable[[], bool]) -> None:
    """Lets the bridge read until something is so."""
    while not ready():  # noqa: ASYNC110 - the bridge has no event for this
        await anyio.sleep(0.01)


async def watched(core: Core, act: Callable[[], object], calls: int) -> Bridge:
    """What a console shows that was there before `act`, once it has so many calls."""
    bridge = Bridge(LinkSource(core.runtime / "control.sock"), SystemClock(), lambda: None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bridge.run)
        with anyio.fail_after(WAIT_S):
            await come_about(lambda: bridge.link.state == "attached")
            await anyio.to_thread.run_sync(act)
            await come_about(lambda: len(bridge.state.rows) == calls and not bridge.skipped)
        tasks.cancel_scope.cancel()
    return bridge


def command(number: int) -> list[dict[str, Any]]:
    """One command of `codex exec --json`, from its beginning to its end."""
    item = {
        "id": f"item_{number}",
        "type": "command_execution",
        "command": "rm -rf /" if number == 41 else f"echo {number}",
        "exit_code": None,
        "status": "in_progress",
    }
    done = {**item, "status": "completed", "exit_code": 0, "aggregated_output": ""}
    return [{"type": "item.started", "item": item}, {"type": "item.completed", "item": done}]


async def test_sixty_calls_at_once_are_all_in_the_table(running: Core) -> None:
    events = [{"type": "thread.started", "thread_id": "t"}]
    for number in range(CALLS):
        events += command(number)
    bridge = await watched(running, lambda: tap("codex", lines(events)), CALLS)
    recorded = [r["call"] for r in running.records() if r["kind"] == "tool.pre"]
    assert [row.call for row in bridge.state.rows] == recorded
    assert [row.summary for row in bridge.state.rows if row.risk == "critical"] == ["rm -rf /"]


async def test_a_call_behind_a_stream_of_text_is_in_the_table(running: Core) -> None:
    deltas: list[dict[str, Any]] = [
        {"type": "response_delta", "response_id": "r", "delta": f"word {number}"}
        for number in range(DELTAS)
    ]
    call = {"response_id": "tool-1", "tool_name": "exec_shell"}
    told = {"command": "make", "cwd": "/srv/app"}
    deltas.append({"type": "tool_lifecycle", **call, "phase": "precheck", "payload": told})

    def stream() -> None:
        with socket.socket(socket.AF_UNIX) as sink:
            sink.connect(str(running.runtime / "ingest.sock"))
            for event in deltas:
                line = {"at": "2026-05-31T11:19:28.100000001+00:00", "event": event}
                sink.sendall(json.dumps(line).encode() + b"\n")

    bridge = await watched(running, stream, 1)
    assert [row.summary for row in bridge.state.rows] == ["make"]

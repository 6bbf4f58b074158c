"""A whole core: transcripts use a budget up, calls are asked, and a restart repeats nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tests.service.usage.living import WAIT_S, Living
from watchgate.core.model.records import RequestData
from watchgate.core.state.state import State
from watchgate.core.usage.budget import RULE

pytestmark = pytest.mark.anyio


async def until(living: Living, holds: Callable[[State], object]) -> State:
    with anyio.fail_after(WAIT_S):
        while True:
            state = await living.state()
            if holds(state):
                return state
            await anyio.sleep(0.02)


async def asked(living: Living, call: str) -> RequestData:
    """What is asked about a harmless call of an agent that runs whatever nobody denies."""
    raw = json.dumps(
        {
            "session_id": "s1", "cwd": "/src/demo", "hook_event_name": "PreToolUse",
            "permission_mode": "bypassPermissions", "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "tool_use_id": call,
        }
    ).encode()  # fmt: skip
    async with await anyio.connect_unix(living.paths.ingest_socket) as hook:
        await hook.send(b"watchgate/1 claude gate\nlength: %d\n\n" % len(raw) + raw)
        state = await until(living, lambda state: state.pending)
        (pending,) = state.pending.values()
        return pending.data


async def test_a_used_up_budget_asks_and_still_does_after_a_restart(
    runtime_dir: Path, state_dir: Path, tmp_path: Path
) -> None:
    living = Living(
        runtime_dir, state_dir, tmp_path / "home", budget_day_usd=0.01, over_budget="ask"
    )
    living.write("s1", 1_000)
    async with living.running():
        state = await until(living, lambda state: state.budgets)
        assert state.budgets["day"].level == "used-up"
        request = await asked(living, "c1")
        assert request.rule == RULE
        assert request.reason == "today's budget is used up: $0.0101 of $0.0100"
    async with living.running():
        assert (await asked(living, "c2")).rule == RULE
        living.write("s1", 1_000)
        await living.until(lambda seen: (seen.cost or 0) > 20_000_000, "s1")
    (told,) = living.records("policy.budget")
    assert told.data["asks"]

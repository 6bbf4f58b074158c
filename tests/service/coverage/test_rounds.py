"""A look at what runs becomes records of the core."""

from __future__ import annotations

from pathlib import Path

import anyio

from tests.service.coverage.test_processes import process
from tests.service.desk import Desk
from watchgate.agents.registry import ADAPTERS
from watchgate.service.clock import SystemClock
from watchgate.service.coverage.rounds import Rounds


def test_an_agent_that_no_hook_was_heard_of_is_listed_as_not_gated(tmp_path: Path) -> None:
    desk = Desk()
    process(tmp_path, 7, "claude", start=0)
    rounds = Rounds(desk.hub, SystemClock(), ADAPTERS, {}, home=tmp_path, proc=tmp_path)
    anyio.run(rounds.look)
    assert desk.kinds() == ["policy.ungated"]
    view = desk.hub.recorder.state.sessions["claude", "pid 7"]
    assert (view.gated, view.label) == (False, "app")
    assert "watchgate install claude" in view.cause
    anyio.run(rounds.look)
    assert desk.kinds() == ["policy.ungated"], "once is enough"
    (tmp_path / "7" / "cmdline").unlink()
    anyio.run(rounds.look)
    assert desk.kinds() == ["policy.ungated", "policy.inferred"]

"""A call that would end the core or a console is held in every mode of the agent."""

from __future__ import annotations

import os

import pytest

from tests.e2e.driving import Console
from tests.e2e.programs import Core, bash


@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
@pytest.mark.parametrize("command", ["kill -9 {}", "prlimit --pid {} --nofile=3:3"])
def test_the_cores_number_is_critical(running: Core, mode: str, command: str) -> None:
    assert running.process is not None
    text = command.format(running.process.pid)
    running.hook("PreToolUse", {**bash(text), "permission_mode": mode})
    (request,) = running.pending()
    assert request["risk"] == "critical"
    assert running.seen("approval.requested")["data"]["rule"] == "own.process"


def test_a_consoles_number_is_critical_while_it_is_attached(running: Core) -> None:
    console = Console(running)
    running.hook("PreToolUse", bash(f"kill {os.getpid()}"))
    (request,) = running.pending()
    console.close()
    assert request["risk"] == "critical"
    assert running.seen("approval.requested")["data"]["rule"] == "own.process"

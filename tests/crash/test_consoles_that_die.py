"""A console that is stopped or killed takes nothing with it: the core and its requests go on."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.crash.clients import Control
from tests.e2e.programs import Core, bash
from tests.terminal import Terminal

RISKY = "git push --force"


@pytest.fixture
def core() -> Iterator[Core]:
    core = Core()
    core.start()
    yield core
    core.end()


def test_a_console_that_is_stopped_or_killed_hinders_nobody_and_decides_nothing(core: Core) -> None:
    with Control(core.runtime / "control.sock") as onlooker, Terminal() as console:
        onlooker.ask("attach", observer=True)
        onlooker.pushed(lambda record: record["kind"] == "console.attached")
        console.process.send_signal(signal.SIGSTOP)
        held = core.hook("PreToolUse", bash(RISKY))
        (request,) = core.pending()
        assert core.allow(request).code == 0
        assert held.done().code == 0
        held = core.hook("PreToolUse", bash(RISKY, "call-2"))
        (request,) = core.pending()
        console.process.send_signal(signal.SIGKILL)
        onlooker.pushed(lambda record: record["kind"] == "console.detached")
        assert held.waits
        assert core.cli("deny", request["id"]).code == 0
        assert held.done().code == 2
    words = [r["data"]["word"] for r in core.records() if r["kind"] == "approval.decided"]
    assert words == ["allowed-by-operator", "denied-by-operator"]
    assert core.cli("audit", "verify").code == 0

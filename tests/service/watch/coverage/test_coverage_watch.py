"""A look at what runs becomes records of the core."""

from __future__ import annotations

from pathlib import Path

import anyio

from tests.core.builders import other
from tests.service.desk import Desk
from tests.service.watch.coverage.test_processes import process
from watchgate.agents.registry import ADAPTERS
from watchgate.service.system.system_clock import SystemClock
from watchgate.service.watch.coverage.coverage_watch import CoverageWatch


def test_an_agent_that_no_hook_was_heard_of_is_listed_as_not_gated(tmp_path: Path) -> None:
    desk = Desk()
    process(tmp_path, 7, "claude", start=0)
    rounds = CoverageWatch(desk.hub, SystemClock(), ADAPTERS, {}, home=tmp_path, proc=tmp_path)
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


def broken_off(rounds: CoverageWatch, desk: Desk, at_us: int) -> str:
    """The state of the only session after its transcript told of an interruption."""
    rounds._interrupted("claude", "one", at_us)
    (view,) = desk.hub.recorder.state.sessions.values()
    return str(view.shown)


def test_a_turn_that_was_broken_off_is_over_unless_another_began_since(tmp_path: Path) -> None:
    desk = Desk()
    rounds = CoverageWatch(desk.hub, SystemClock(), ADAPTERS, {}, home=tmp_path, proc=tmp_path)
    rounds._interrupted("claude", "one", 1)
    assert desk.kinds() == [], "nobody knows that session"
    began = other("prompt.submit", session="one")
    desk.hub.execute(desk.hub.engine.receive(began, 0, began.at))
    assert broken_off(rounds, desk, began.at.wall_us - 1) == "working", "that was another turn"
    assert broken_off(rounds, desk, began.at.wall_us + 1) == "idle"
    assert desk.kinds() == ["prompt.submit", "turn.interrupt"]
    assert broken_off(rounds, desk, began.at.wall_us + 2) == "idle"
    assert desk.kinds() == ["prompt.submit", "turn.interrupt"], "once is enough"


def test_a_process_is_no_session_of_its_own_once_its_folder_is_heard_of(tmp_path: Path) -> None:
    desk = Desk()
    process(tmp_path, 7, "claude", start=0)
    rounds = CoverageWatch(desk.hub, SystemClock(), ADAPTERS, {}, home=tmp_path, proc=tmp_path)
    anyio.run(rounds.look)
    cwd = desk.hub.recorder.state.sessions["claude", "pid 7"].cwd
    began = other("session.start", session="one", cwd=cwd)
    desk.hub.observed.on_session_event(began)
    desk.hub.execute(desk.hub.engine.receive(began, 0, began.at))
    views = desk.hub.recorder.state.sessions
    assert ("claude", "pid 7") not in views
    assert views["claude", "one"].label == "app", "one row with one name"

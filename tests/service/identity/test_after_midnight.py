"""A core that starts on a later day, or after the machine did, knows the agents that live."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from tests.service.desk import Desk, places
from tests.service.scribe import Scribe
from watchgate.core.model.events import Tool
from watchgate.core.model.records import CallData, Draft
from watchgate.core.state.state import DAY_US, State
from watchgate.service.host.core_identity import CoreIdentity
from watchgate.service.host.restore_state import restored_state
from watchgate.service.identity import agent_processes
from watchgate.service.identity.agent_processes import AgentProcesses, SavedAgents
from watchgate.service.identity.ancestry import chain_of
from watchgate.service.identity.presence import CoreProcesses, Presences
from watchgate.service.journal.writer import Journal
from watchgate.service.system.process_table import Proc, itself
from watchgate.service.system.system_clock import FakeClock

MIDNIGHT_US = 20_000 * DAY_US
MINUTE_US = 60_000_000


@pytest.fixture
def agent() -> Iterator[Proc]:
    """A living process below this one, which thus is no older than it."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )
    found = itself(process.pid)
    assert found is not None
    yield found
    process.communicate()


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A gate that was asked a minute before midnight, and nothing since."""
    opened = Journal.open(places(tmp_path).journal)
    data = CallData(
        native="PreToolUse",
        summary="git push",
        lane="gate",
        gate="denied",
        risk="low",
        cwd="/src/api",
        tool=Tool(name="Bash", native_name="Bash", cls="shell", input={}, input_hash="0"),
    )
    asked = Draft(
        kind="tool.pre",
        at=MIDNIGHT_US - MINUTE_US,
        data=data,
        agent="claude",
        session="s",
        call="c",
    )
    scribe = Scribe(opened)
    opened.append(scribe.chain.seal(asked)[1])
    assert scribe.commit()
    opened.close()
    return places(tmp_path).journal


Restart = Callable[[int], Presences]


@pytest.fixture
def restart(tmp_path: Path, journal: Path) -> Restart:
    """Starts a core at a moment, over what the one before left."""

    def start(now_us: int) -> Presences:
        desk = Desk()
        desk.hub.askers = AgentProcesses()
        clock = FakeClock(msgspec.structs.replace(desk.clock.now(), wall_us=now_us))
        state: State = restored_state(journal, now_us, pytest.fail)
        desk.hub.recorder.state = state
        return CoreIdentity(places(tmp_path), clock, desk.hub, CoreProcesses()).presences

    return start


def keep(folder: Path, agent: Proc) -> Path:
    path = places(folder).agents
    agent_processes.save_agents(path, SavedAgents(((agent, ("claude", "s")),)))
    return path


@pytest.mark.parametrize("minutes", [-0.5, 0.5, 60, 3_000])
def test_an_agent_of_yesterday_that_lives_is_known(
    tmp_path: Path, restart: Restart, agent: Proc, minutes: float
) -> None:
    keep(tmp_path, agent)
    presences = restart(MIDNIGHT_US + round(minutes * MINUTE_US))
    assert [each[0].key for each in presences.agent_side().agents] == [agent.key]
    assert not presences.nobody_asks
    assert presences.standing_of(chain_of(agent.pid)).standing == "below"


@pytest.mark.parametrize("minutes", [-0.5, 0.5])
def test_where_the_agents_cannot_be_read_nobody_is_clear(
    tmp_path: Path, restart: Restart, agent: Proc, minutes: float
) -> None:
    keep(tmp_path, agent).write_bytes(b"{")
    presences = restart(MIDNIGHT_US + round(minutes * MINUTE_US))
    assert not presences.nobody_asks
    assert presences.standing_of(chain_of(os.getpid()), "r").standing != "clear"
    assert presences.standing_of(chain_of(agent.pid), "r").standing != "clear"


def test_a_session_from_before_the_machine_was_started_again_locks_nobody(
    tmp_path: Path, restart: Restart, agent: Proc
) -> None:
    path = keep(tmp_path, agent)
    text = path.read_text()
    assert restart(MIDNIGHT_US - MINUTE_US // 2).agent_side().agents
    boot = msgspec.json.decode(text)["boot"]
    path.write_text(text.replace(boot, "another"))
    presences = restart(MIDNIGHT_US - MINUTE_US // 2)
    assert presences.nobody_asks
    path.unlink()
    assert not restart(MIDNIGHT_US - MINUTE_US // 2).nobody_asks, "nor is its process known"

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from watchgate.service.identity import agent_processes
from watchgate.service.identity.agent_processes import MAX_ACCOUNTED, AgentProcesses, AgentsOnDisk
from watchgate.service.system.process_table import Proc

FIRST = Proc(30, "300", "claude")
SECOND = Proc(31, "310", "codex")


class Core:
    """What one core knows of its agents, and keeps; `failures` are what it was told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.failures: list[str] = []
        self.askers = AgentProcesses(alive=lambda _agent: True, lineage=lambda agent: (agent,))
        self.kept = AgentsOnDisk(path, self.askers, self.failures.append)
        self.kept.load()

    async def asks(self, agent: Proc, session: str = "s") -> set[int]:
        """An agent asks; the processes on the disk when its call may be answered."""
        taken_up = anyio.Event()
        self.askers.note_agent(agent, ("claude", session))
        self.kept.once_saved(agent, taken_up.set)
        with anyio.fail_after(30):
            await taken_up.wait()
        return self.on_disk() if self.path.exists() else set()

    def on_disk(self) -> set[int]:
        return {agent.pid for agent, _ in agent_processes.load_agents(self.path).known}


@pytest.fixture
async def core(tmp_path: Path) -> AsyncIterator[Core]:
    core = Core(tmp_path / "agents.json")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(core.kept.run)
        yield core
        tasks.cancel_scope.cancel()


async def test_a_new_process_is_on_the_disk_before_its_call_is_taken_up(core: Core) -> None:
    assert await core.asks(FIRST) == {30}
    assert await core.asks(SECOND, "t") == {30, 31}


async def test_one_that_is_known_costs_no_file_more(core: Core) -> None:
    await core.asks(FIRST)
    at_once: list[str] = []
    written = core.path.stat().st_ino, core.path.stat().st_mtime_ns
    for _ in range(100):
        core.askers.note_agent(FIRST, ("claude", "s"))
        core.kept.once_saved(FIRST, lambda: at_once.append("taken up"))
    assert len(at_once) == 100
    assert not core.askers.changed
    assert (core.path.stat().st_ino, core.path.stat().st_mtime_ns) == written


async def test_more_sessions_of_one_are_on_the_disk_in_a_moment(core: Core) -> None:
    await core.asks(FIRST)
    await core.asks(FIRST, "another")
    with anyio.fail_after(30):
        while ("claude", "another") not in {
            named for _, named in agent_processes.load_agents(core.path).known
        }:
            await anyio.lowlevel.checkpoint()


async def test_nobody_takes_another_off_the_disk_by_naming_its_sessions(core: Core) -> None:
    await core.asks(FIRST)
    assert await core.asks(SECOND) == {30, 31}
    for number in range(MAX_ACCOUNTED + 1):
        core.askers.note_agent(SECOND, ("claude", f"s{number}"))
    assert await core.asks(Proc(32, "320", "amp"), "t") == {30, 31, 32}


async def test_a_core_that_starts_again_knows_them_and_writes_nothing(core: Core) -> None:
    await core.asks(FIRST)
    again = Core(core.path)
    assert [chain[0].key for chain in again.askers.known()] == [FIRST.key]
    assert not again.askers.changed
    at_once: list[bool] = []
    again.kept.once_saved(FIRST, lambda: at_once.append(True))
    assert at_once


async def test_where_it_cannot_be_written_that_is_told_and_the_call_is_taken_up(
    core: Core,
) -> None:
    fresh = core.path.with_name("agents.json.new")
    fresh.mkdir()
    assert await core.asks(FIRST) == set()
    assert core.failures
    fresh.rmdir()
    assert await core.asks(FIRST) == {30}, "the next call tries again"


async def test_where_no_thread_can_be_started_that_is_told_and_the_call_is_taken_up(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_thread(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(anyio.to_thread, "run_sync", no_thread)
        await core.asks(FIRST)
    assert core.failures == ["can't start new thread"]
    assert await core.asks(FIRST) == {30}, "the next call tries again"

"""The agents on disk: each new process is there before it gets any answer.

So a core that is killed and started again knows every agent that was ever answered. It costs one
small file for each new process, not for each call; more sessions of one are written in a moment.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread

from watchgate.service.askers import Askers
from watchgate.service.identity import agents_file
from watchgate.service.identity.agents_file import Agents
from watchgate.service.process_table import Proc

LOOK_S = 0.25
"""Seconds between looks for more sessions of known agents."""


class KeptAgents:
    """The agents of one core on its disk; `failed` gets the reason why they cannot be written."""

    def __init__(self, path: Path, askers: Askers, failed: Callable[[str], None]) -> None:
        self._path = path
        self._askers = askers
        self._failed = failed
        self._on_disk: set[tuple[int, str]] = set()
        self._pending: list[Callable[[], None]] = []
        self._is_due = anyio.Event()

    def load(self) -> None:
        """Takes over an earlier core's agents; raises `AgentsError`."""
        agents = agents_file.load(self._path)
        self._askers.restore(*agents)
        self._on_disk = {agent.key for agent, _ in agents.known}

    def once_saved(self, agent: Proc, then: Callable[[], None]) -> None:
        """Calls back when this agent is on disk, or cannot be put there; at once if it is."""
        if agent.key in self._on_disk:
            then()
            return
        self._pending.append(then)
        self._is_due.set()

    async def run(self) -> None:
        """Writes new agents, until cancelled."""
        while True:
            with anyio.move_on_after(LOOK_S):
                await self._is_due.wait()
            self._is_due = anyio.Event()
            if self._askers.changed or self._pending:
                await self._save()

    async def _save(self) -> None:
        pending, self._pending = self._pending, []
        self._askers.changed = False
        agents = Agents(self._askers.to_keep(), self._askers.first)
        try:
            await anyio.to_thread.run_sync(agents_file.save, self._path, agents)
        except (OSError, RuntimeError, MemoryError) as fault:
            # Without memory no thread can be started: the calls that wait go on all the same.
            self._failed(getattr(fault, "strerror", None) or str(fault))
        else:
            self._on_disk = {agent.key for agent, _ in agents.known}
        for then in pending:
            then()

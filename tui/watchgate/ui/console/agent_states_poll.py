"""The states of the agents on the core's machine, asked for while no call of theirs is shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import anyio
from anyio.to_thread import run_sync

from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.agent_state import LIST_AGENTS, AgentState, WithoutCore, install_command
from watchgate.link.control_lines import CoreLost
from watchgate.link.protocol import Refusal
from watchgate.ui.keys.shown_keys import key_for

if TYPE_CHECKING:
    from watchgate.ui.commands.console import Console
    from watchgate.ui.source.core_bridge import Bridge

ASK_EVERY_S = 3.0
"""Seconds between two questions: somebody installs in another terminal meanwhile."""

OFFERED_FOR_S = 10.0
"""Seconds that a command stands on the screen and can be copied."""

WAITED_S = 1.0
"""Seconds that a core is waited for before the command is shown without its answer."""


class Agents:
    """Asks the core for the agents beside it and lays its answer on the desk, timed by `now_s`."""

    def __init__(self, console: Console, now_s: Callable[[], float]) -> None:
        self._console = console
        self._now_s = now_s
        self._due_s = float("-inf")

    def look(self) -> None:
        """Asks while the first screen has no call to show; without a core, reads the files."""
        console, now_s = self._console, self._now_s()
        stage, bridge, local = console.stage, console.bridge, console.options.without_core
        if stage.recording is not None or stage.demo:
            return
        if bridge.link.lost and local is not None and now_s >= self._due_s:
            self._due_s = now_s + ASK_EVERY_S
            console.start(partial(self._read, local))
        if bridge.link.state != "attached":
            return
        console.desk.without_core = "unknown"  # until it is lost again
        if now_s >= self._due_s and not len(bridge.state.rows):
            self._due_s = now_s + ASK_EVERY_S
            console.start(self._ask)

    async def offer(self) -> None:
        """Shows the command that connects an agent here, and lets it be copied meanwhile."""
        console = self._console
        with anyio.move_on_after(WAITED_S):
            await self._ask()
        command = install_command(console.desk.agents) if self._core else LIST_AGENTS
        text = f"in a shell: {command}   ({key_for('copy')} copies it)"
        console.desk.say(text, self._now_s(), OFFERED_FOR_S, offered=command)
        console.wake()

    @property
    def _core(self) -> Bridge | None:
        """The console's own core: a demo or a replay knows of no agent on this machine."""
        stage = self._console.stage
        return None if stage.live_is_demo else stage.live

    async def _read(self, local: Callable[[], WithoutCore]) -> None:
        """Reads from the files of this machine what hooks do while there is no core."""
        states = await run_sync(local)
        if states != self._console.desk.without_core:
            self._console.desk.without_core = states
            self._console.wake()

    async def _ask(self) -> None:
        if (core := self._core) is None:
            return
        try:
            answer = await core.call("list", what="agents")
            if isinstance(answer, Refusal):
                return  # a core of an earlier version
            states = decoding.convert(answer.ok.get("agents", ()), tuple[AgentState, ...])
        except (CoreLost, *JSON_FAULTS):
            return
        if states != self._console.desk.agents:
            self._console.desk.agents = states
            self._console.wake()

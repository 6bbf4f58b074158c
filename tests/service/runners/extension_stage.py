"""A stage for extension processes: the actor in a folder of its own, and time that stands still."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec

from tests.core.builders import START, pre, shell
from tests.core.dispatch.extensions.manifests import load
from watchgate.core.dispatch.extensions.extension_spec import ExtensionSpec
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Report
from watchgate.service.runners.extension import ExtensionDeps, ExtensionRunner, Extensions
from watchgate.service.runners.extension_run import ExtensionTiming
from watchgate.service.system.system_clock import FakeClock

ACTOR = Path(__file__).parent / "extensions" / "actor.py"
LONG_S = 30.0
PATIENT = ExtensionTiming(shutdown_s=LONG_S, grace_s=LONG_S, exit_word_s=LONG_S)
"""For an actor that ends by itself: on a busy machine it may take long to do so."""


async def _at_once(_seconds: float) -> None:
    await anyio.lowlevel.checkpoint()


def call(command: str = "ls") -> Event:
    """A shell call that is about to run."""
    return pre(shell(command))


class Stage:
    """One extension, the clock that it lives by, and everything that it was seen to do."""

    def __init__(self, folder: Path, mode: str, timing: ExtensionTiming, **fields: Any) -> None:
        self.folder = folder
        self.clock = FakeClock(START)
        self.pauses: list[float] = []
        self.pausing: Callable[[float], Awaitable[None]] = _at_once
        self.lines: list[tuple[str, str]] = []
        self.spec: ExtensionSpec = self._spec(mode, **fields)
        self.extensions = Extensions(
            ExtensionDeps(clock=self.clock, pause=self._pause, on_line=self._said, timing=timing)
        )

    @property
    def extension(self) -> ExtensionRunner:
        """The process's keeper."""
        return self.extensions.runner("guard")

    @property
    def log(self) -> list[str]:
        """What the actor noted, without process ids."""
        return [word for word in self._noted() if not word.startswith("pid:")]

    @property
    def pids(self) -> list[int]:
        """Every process that the actor was or started."""
        return [int(word[4:]) for word in self._noted() if word.startswith("pid:")]

    async def ask(self, command: str = "ls", limit_s: float = LONG_S) -> Report:
        """Asks about a shell command."""
        return await self.extension.run(call(command), limit_s)

    async def until_health(self, word: str) -> None:
        """Waits until the extension is in a state."""
        await until(lambda: self.extension.health == word)

    async def until_noted(self, word: str, times: int = 1) -> None:
        """Waits until the actor has noted a word so often."""
        await until(lambda: self.log.count(word) >= times)

    async def until_all_gone(self) -> None:
        """Waits until no process that the actor was or started runs any more."""
        await until(lambda: not any(map(runs, self.pids)))

    def _noted(self) -> list[str]:
        log = self.folder / "log"
        return log.read_text().splitlines() if log.exists() else []

    def _spec(self, mode: str, **fields: Any) -> ExtensionSpec:
        manifest = {
            "command": sys.executable,
            "args": ["-I", "-S", str(ACTOR), mode],
            **fields.pop("manifest", {}),
        }
        spec = load(manifest, **fields)
        root = str(self.folder)
        told = {**spec.initialize, "plugin_root": root}
        return msgspec.structs.replace(spec, cwd=root, initialize=told)

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await self.pausing(seconds)

    def _said(self, extension_id: str, line: str) -> None:
        self.lines.append((extension_id, line))


@asynccontextmanager
async def stage(
    folder: Path, mode: str, timing: ExtensionTiming | None = None, **fields: Any
) -> AsyncIterator[Stage]:
    """The actor, started; at the end it is stopped, and nothing of it may be left."""
    made = Stage(folder, mode, timing or PATIENT, **fields)
    async with anyio.create_task_group() as tasks:
        made.extensions.start([made.spec], tasks)
        try:
            yield made
        finally:
            with anyio.CancelScope(shield=True):
                await made.extensions.stop()
    await made.until_all_gone()


async def until(holds: Callable[[], bool]) -> None:
    """Waits until something is so."""
    with anyio.fail_after(LONG_S):
        while not holds():  # noqa: ASYNC110 - another process does not set our events
            await anyio.sleep(0.002)


def runs(pid: int) -> bool:
    """Whether a process exists and is no zombie that its new parent did not reap yet."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"

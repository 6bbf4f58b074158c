"""A dispatch over real hook commands, driven to its end as a core does, on a clock that stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.core.builders import START
from tests.service.runners.hooks import marked, script, survivors
from watchgate.core.dispatch.dispatch_loop import Dispatch, Invoke
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.hooks.hook_protocols import PROTOCOLS
from watchgate.core.dispatch.presets import PRESETS, PresetName
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Outcome, Report, TraceRow
from watchgate.service.runners.child_pool import ChildPool
from watchgate.service.runners.handler_command import CommandRunner

AMPLE_S = 60.0


class Bench:
    """A folder of hooks, run under one preset with the protocol that it names."""

    def __init__(self, folder: Path, pool: ChildPool) -> None:
        self.folder = folder
        self.pool = pool
        self.env = marked()
        self.reports: dict[str, Report] = {}
        self._runners: dict[str, tuple[Handler, CommandRunner, float]] = {}

    def hook(
        self,
        preset: PresetName,
        body: str | tuple[str, ...],
        *,
        limit_s: float = AMPLE_S,
        cwd: str | None = None,
        **handler: Any,
    ) -> None:
        """Adds a handler whose command is this script, or these words."""
        name = f"hook-{len(self._runners)}"
        argv = (script(self.folder, body, f"{name}.sh"),) if isinstance(body, str) else body
        runner = CommandRunner(
            argv,
            PROTOCOLS[PRESETS[preset].protocol],
            handler_id=name,
            pool=self.pool,
            env=self.env,
            cwd=cwd,
        )
        made = Handler(**{"id": name, "on": frozenset({"tool.pre"}), "kind": "command", **handler})
        self._runners[name] = (made, runner, limit_s)

    @property
    def cwd(self) -> str:
        """The session's folder, where the hooks lie."""
        return str(self.folder)

    async def outcome(self, preset: PresetName, event: Event) -> tuple[Outcome, list[TraceRow]]:
        """What comes of the event, and the finished trace; nothing is alive then."""
        bus = Bus(PRESETS[preset], (each for each, _, _ in self._runners.values()))
        dispatch = bus.start(event, START)
        assert isinstance(dispatch, Dispatch)
        calls = dispatch.begin(START)
        while calls:
            call = calls.pop(0)
            calls += dispatch.feed(call.handler.id, await self._report(call), START)
        assert dispatch.outcome is not None
        assert survivors(self.env) == []
        return dispatch.outcome, list(dispatch.trace())

    async def _report(self, call: Invoke) -> Report:
        _, runner, limit_s = self._runners[call.handler.id]
        report = await runner.run(call.event, limit_s)
        self.reports[call.handler.id] = report
        return report

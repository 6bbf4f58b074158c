"""A core that looks after real installations in throw-away homes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.agents.payloads import INSTALLABLE
from tests.service.desk import Desk
from watchgate.agents.base import Adapter
from watchgate.agents.registry import ADAPTERS
from watchgate.link.paths import Paths
from watchgate.service.policies.policy_store import Policies
from watchgate.service.setup.installer import HookSettings, Installer
from watchgate.service.watch.integrity.integrity_watch import IntegrityWatch

GUARD = HookSettings(profile="guard", client_deadline_s=3660)
PYTHON = Path(sys.executable)
AGENTS = {name: ADAPTERS[name] for name in INSTALLABLE}
CLAUDE = ADAPTERS["claude"]


class Core:
    """A core that looks after its files when the test says so."""

    def __init__(self, places: Paths) -> None:
        self.desk = Desk()
        self.places = places
        self.policies = Policies(((places.policy, "user"),))
        self.watch = IntegrityWatch(
            self.desk.hub, self.desk.clock, places, ADAPTERS, self.policies, os.environ
        )

    async def looks(self, times: int = 2) -> list[str]:
        """What the core says that is new after so many looks."""
        before = len(self.desk.console.records)
        for _ in range(times):
            await self.watch.look()
        return [record.kind for record in self.desk.console.records[before:]]

    @property
    def alarms(self) -> list[str]:
        """What the console shows in red."""
        return [each.what for each in self.desk.hub.recorder.state.gate.tampered]

    @property
    def notices(self) -> list[str]:
        return [r.data["detail"] for r in self.desk.console.records if r.kind == "notice"]


def install(installer: Installer, agent: Adapter) -> list[Path]:
    changes = installer.plan_install(agent, "user", GUARD, PYTHON)
    installer.install(changes, PYTHON)
    return [change.part.path for change in changes if change.after is not None]


def uninstall(installer: Installer, agent: Adapter) -> None:
    installer.uninstall(installer.plan_uninstall(agent, "user", PYTHON))


def remove(path: Path) -> None:
    path.unlink()

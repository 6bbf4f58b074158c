"""Our own leaving is no alarm, for the core that runs and for the next one."""

from __future__ import annotations

import anyio.from_thread
import anyio.to_thread
import pytest

from tests.service.watch.integrity.watched import CLAUDE, Core, install, uninstall
from watchgate.link.paths import Paths
from watchgate.service.setup import cleanup
from watchgate.service.setup.installer import Installer


async def test_a_core_that_runs_sees_the_list_empty_before_it_goes(
    places: Paths, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    uninstall(installer, CLAUDE)

    def answers(_: Paths) -> bool:
        anyio.from_thread.run(core.looks)
        return True

    monkeypatch.setattr(cleanup, "answers", answers)
    left = await anyio.to_thread.run_sync(cleanup.remove_client, places)
    assert (left.stays, places.data_dir.exists()) == ((), False)
    assert "policy.tampered" not in await core.looks(3)
    assert core.alarms == []


async def test_the_next_core_misses_nothing(places: Paths, installer: Installer) -> None:
    install(installer, CLAUDE)
    await Core(places).looks()
    uninstall(installer, CLAUDE)
    cleanup.remove_client(places)
    assert await Core(places).looks() == []

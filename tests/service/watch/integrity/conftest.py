from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.service.watch.integrity.watched import AGENTS
from watchgate.link.paths import Paths, paths
from watchgate.service.setup import hook_client
from watchgate.service.setup.agent_files import setup_of
from watchgate.service.setup.installer import Installer


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> Paths:
    for agent in AGENTS.values():
        monkeypatch.delenv(setup_of(agent).variable or "NONE", raising=False)
    found = paths(os.environ)
    found.state_dir.mkdir(parents=True, mode=0o700)
    found.policy.parent.mkdir(parents=True)
    return found


@pytest.fixture
def installer(places: Paths, tmp_path: Path) -> Installer:
    return Installer(places, os.environ, tmp_path)


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not looked at here need not be made."""
    monkeypatch.setattr(hook_client, "renew_bytecode", lambda *_: True)

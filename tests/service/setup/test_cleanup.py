from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from watchgate.agents.registry import ADAPTERS
from watchgate.link.paths import Paths, paths
from watchgate.service.setup import cleanup, manifest
from watchgate.service.setup.cleanup import remove_client
from watchgate.service.setup.hook_client import base_interpreter
from watchgate.service.setup.installer import HookSettings, Installer
from watchgate.service.setup.manifest import IntegritySnapshot

CLAUDE = ADAPTERS["claude"]


@pytest.fixture
def places() -> Paths:
    """Where claude was installed and is no more, and a core had seen the installation."""
    places = paths(os.environ)
    installer, python = Installer(places, os.environ, Path("/")), base_interpreter()
    setting = HookSettings(profile="guard", client_deadline_s=3660)
    installer.install(installer.plan_install(CLAUDE, "user", setting, python), python)
    places.state_dir.mkdir(parents=True, mode=0o700)
    manifest.save_snapshot(
        places.integrity, IntegritySnapshot(entries=manifest.load_manifest(places.installed) or ())
    )
    installer.uninstall(installer.plan_uninstall(CLAUDE, "user", python))
    return places


def test_the_next_core_does_not_miss_a_list_that_we_removed(places: Paths) -> None:
    left = remove_client(places)
    assert left.stays == ()
    assert not places.data_dir.exists()
    assert manifest.load_snapshot(places.integrity)[0].entries == ()


def test_a_core_that_runs_is_given_time_to_see_that_the_list_is_empty(
    places: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([True, True])

    def answers(_: Paths) -> bool:
        if next(looks, None) is None:
            known = manifest.load_snapshot(places.integrity)[0]
            manifest.save_snapshot(places.integrity, msgspec.structs.replace(known, entries=()))
        assert (manifest.load_manifest(places.installed), places.client.exists()) == ((), True)
        return True

    monkeypatch.setattr(cleanup, "answers", answers)
    assert remove_client(places).stays == ()
    assert not places.data_dir.exists()


def test_a_core_that_does_not_look_keeps_an_empty_list(
    places: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleanup, "answers", lambda _: True)
    monkeypatch.setattr(cleanup, "CORE_LOOKS_S", 0.0)
    [(path, why)] = remove_client(places).stays
    assert (path, "has not looked" in why) == (places.installed, True)
    assert manifest.load_manifest(places.installed) == ()
    assert [each.name for each in places.data_dir.iterdir()] == ["installed.json"]

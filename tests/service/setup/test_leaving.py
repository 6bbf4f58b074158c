from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from watchgate.agents.registry import ADAPTERS
from watchgate.link.paths import Paths, paths
from watchgate.service.integrity import manifest, seen
from watchgate.service.integrity.seen import Seen
from watchgate.service.setup import leaving
from watchgate.service.setup.installer import Installer, Setting
from watchgate.service.setup.interpreter import base_interpreter
from watchgate.service.setup.leaving import leave

CLAUDE = ADAPTERS["claude"]


@pytest.fixture
def places() -> Paths:
    """Where claude was installed and is no more, and a core had seen the installation."""
    places = paths(os.environ)
    installer, python = Installer(places, os.environ, Path("/")), base_interpreter()
    setting = Setting(profile="guard", client_deadline_s=3660)
    installer.install(installer.plan_install(CLAUDE, "user", setting, python), python)
    places.state_dir.mkdir(parents=True, mode=0o700)
    seen.save(places.integrity, Seen(entries=manifest.load(places.installed) or ()))
    installer.uninstall(installer.plan_uninstall(CLAUDE, "user", python))
    return places


def test_the_next_core_does_not_miss_a_list_that_we_removed(places: Paths) -> None:
    left = leave(places)
    assert left.stays == ()
    assert not places.data_dir.exists()
    assert seen.load(places.integrity)[0].entries == ()


def test_a_core_that_runs_is_given_time_to_see_that_the_list_is_empty(
    places: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([True, True])

    def answers(_: Paths) -> bool:
        if next(looks, None) is None:
            known = seen.load(places.integrity)[0]
            seen.save(places.integrity, msgspec.structs.replace(known, entries=()))
        assert (manifest.load(places.installed), places.client.exists()) == ((), True)
        return True

    monkeypatch.setattr(leaving, "answers", answers)
    assert leave(places).stays == ()
    assert not places.data_dir.exists()


def test_a_core_that_does_not_look_keeps_an_empty_list(
    places: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaving, "answers", lambda _: True)
    monkeypatch.setattr(leaving, "CORE_LOOKS_S", 0.0)
    [(path, why)] = leave(places).stays
    assert (path, "has not looked" in why) == (places.installed, True)
    assert manifest.load(places.installed) == ()
    assert [each.name for each in places.data_dir.iterdir()] == ["installed.json"]

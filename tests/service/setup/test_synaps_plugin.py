"""Our plugin for SynapsCLI: what is written, and what stays untouched."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from watchgate.agents.synaps import EVENTS
from watchgate.core.extensions import manifest
from watchgate.link.paths import paths
from watchgate.service.setup import synaps_plugin
from watchgate.service.setup.doctor.synaps import check_plugin
from watchgate.service.setup.targets import Refusal

PYTHON = Path(sys.executable)


def install(profile: str = "guard") -> Path:
    return synaps_plugin.install(os.environ, paths(os.environ), profile, PYTHON)


def plugin(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / ".synaps-plugin" / "plugin.json").read_bytes())
    return found


def test_it_lies_where_synaps_looks_and_its_manifest_loads() -> None:
    folder = install()
    assert folder == Path(os.environ["HOME"]) / ".synaps-cli" / "plugins" / "watchgate"
    extension = json.dumps(plugin(folder)["extension"])
    found = manifest.read(extension, "plugin.json")
    assert {entry.hook for entry in found.hooks} == set(EVENTS)
    assert found.args[-1] == "gate"
    assert (folder / found.args[2]).is_file()


def test_under_watch_nothing_is_gated() -> None:
    assert plugin(install("watch"))["extension"]["args"][-1] == "observe"


def test_it_is_brought_up_to_date_and_removed_whole() -> None:
    folder = install("watch")
    assert install("strict") == folder
    assert plugin(folder)["extension"]["args"][-1] == "gate"
    assert synaps_plugin.uninstall(os.environ)
    assert not folder.exists()
    assert folder.parent.is_dir()
    assert not synaps_plugin.uninstall(os.environ)


def test_a_folder_of_somebody_else_is_left_alone() -> None:
    folder = synaps_plugin.folder(os.environ)
    folder.mkdir(parents=True)
    (folder / "main.py").write_text("theirs")
    with pytest.raises(Refusal, match="move it away"):
        install()
    with pytest.raises(Refusal, match="move it away"):
        synaps_plugin.uninstall(os.environ)
    assert (folder / "main.py").read_text() == "theirs"


def test_the_doctor_tells_missing_from_stale_from_right() -> None:
    def check(profile: str = "guard") -> str:
        return check_plugin(os.environ, paths(os.environ), profile, PYTHON).status

    assert check() == "fail"
    folder = install()
    assert check() == "ok"
    assert check("watch") == "fail", "the profile is built in"
    (folder / synaps_plugin.SCRIPT).write_text("old")
    assert check() == "fail"

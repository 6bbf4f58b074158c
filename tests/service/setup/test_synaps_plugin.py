"""Our plugin for SynapsCLI: what is written, and what stays untouched."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from watchgate.agents.registry import ADAPTERS
from watchgate.agents.synaps import EVENTS
from watchgate.core.dispatch.extensions import extension_spec
from watchgate.link.paths import paths
from watchgate.service.setup.agent_files import InstallRefusal
from watchgate.service.setup.installer import HookSettings, Installer

PYTHON = Path(sys.executable)
SYNAPS = ADAPTERS["synaps"]


def folder() -> Path:
    return Path(os.environ["HOME"]) / ".synaps-cli" / "plugins" / "watchgate"


def installer() -> Installer:
    return Installer(paths(os.environ), os.environ, Path("/"))


def install(profile: str = "guard") -> Path:
    setting = HookSettings(profile=profile, client_deadline_s=3660)
    installer().install(installer().plan_install(SYNAPS, "user", setting, PYTHON), PYTHON)
    return folder()


def plugin() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder() / ".synaps-plugin" / "plugin.json").read_bytes())
    return found


def test_it_lies_where_synaps_looks_and_its_manifest_loads() -> None:
    install()

    extension = json.dumps(plugin()["extension"])
    found = extension_spec.read_manifest(extension, "plugin.json")

    assert {entry.hook for entry in found.hooks} == set(EVENTS)
    assert found.args[-1] == "gate"
    assert (folder() / found.args[2]).is_file()


def test_under_watch_nothing_is_gated() -> None:
    install("watch")

    assert plugin()["extension"]["args"][-1] == "observe"


def test_it_is_brought_up_to_date_and_removed_whole() -> None:
    install("watch")
    install("strict")
    assert plugin()["extension"]["args"][-1] == "gate"
    (folder() / "__pycache__").mkdir()
    (folder() / "__pycache__" / "watchgate_client.cpython-311.pyc").write_bytes(b"x")

    installer().uninstall(installer().plan_uninstall(SYNAPS, "user", PYTHON))

    assert not folder().exists()


def test_a_file_that_somebody_put_beside_it_stays() -> None:
    install()
    (folder() / "notes.txt").write_text("theirs")

    installer().uninstall(installer().plan_uninstall(SYNAPS, "user", PYTHON))

    assert [path.name for path in folder().iterdir()] == ["notes.txt"]


def test_a_file_of_somebody_else_is_left_alone() -> None:
    folder().mkdir(parents=True)
    (folder() / "watchgate_synaps.py").write_text("theirs")

    with pytest.raises(InstallRefusal, match="move it away"):
        install()

    assert (folder() / "watchgate_synaps.py").read_text() == "theirs"

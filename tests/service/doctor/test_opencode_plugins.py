"""OpenCode's plugins, as the doctor sees them."""

from __future__ import annotations

import os
from pathlib import Path

from tests.service.doctor.test_agents import faults, findings, install
from watchgate.agents.registry import ADAPTERS
from watchgate.link.paths import paths
from watchgate.service.setup.hook_client import base_interpreter
from watchgate.service.setup.installer import Installer


def test_opencodes_second_plugin_is_missed_and_goes_with_the_first(
    tmp_path: Path, bin_dir: Path
) -> None:
    plugin = install("opencode", tmp_path)
    second = plugin.with_name("watchgate-check.js")
    content = second.read_bytes()
    second.unlink()

    found = findings(tmp_path, "opencode")["opencode: hooks"]

    assert (found.status, found.text) == ("fail", f"{second} is missing")
    assert found.mend == "watchgate install opencode"
    install("opencode", tmp_path)
    assert second.read_bytes() == content
    installer = Installer(paths(os.environ), os.environ, tmp_path)
    python = base_interpreter()
    installer.uninstall(installer.plan_uninstall(ADAPTERS["opencode"], "user", python))
    assert not plugin.exists()
    assert not second.exists()


def test_what_opencodes_plugin_runs_is_tried_like_the_entries_of_the_others(
    tmp_path: Path, bin_dir: Path
) -> None:
    plugin = install("opencode", tmp_path)

    found = findings(tmp_path, "opencode")

    assert faults(found) == {"core"}
    assert found["opencode: hooks"].text == f"1 entry in {plugin} is up to date"
    assert found["opencode: client"].status == "ok"
    assert found["opencode: interpreter"].status == "ok"
    assert "it denies, " in found["opencode: gate answers"].text
    assert "watchgate core is not running" in found["opencode: gate answers"].text
    assert "no opinion" in found["opencode: gate-read answers"].text


def test_a_plugin_that_somebody_changed_is_not_run(tmp_path: Path, bin_dir: Path) -> None:
    plugin = install("opencode", tmp_path)
    plugin.write_text(plugin.read_text().replace('"-I", "-S"', '"-I"'))

    found = findings(tmp_path, "opencode")

    assert found["opencode: hooks"].status == "fail"
    assert "opencode: gate answers" not in found

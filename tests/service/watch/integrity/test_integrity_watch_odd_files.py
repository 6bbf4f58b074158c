"""Odd files, odd hands and odd moments: no false alarm, and nothing that blinds the watch."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.service.watch.integrity.watched import (
    CLAUDE,
    GUARD,
    PYTHON,
    Core,
    install,
    uninstall,
)
from watchgate.agents.registry import ADAPTERS
from watchgate.link.paths import Paths
from watchgate.service.setup import hook_client
from watchgate.service.setup.installer import Installer
from watchgate.service.system.safe_files import READ_BYTES


async def test_a_script_that_may_not_be_run_any_more_is_an_alarm_that_installing_mends(
    places: Paths, installer: Installer
) -> None:
    path, *_ = install(installer, ADAPTERS["cline"])
    core = Core(places)
    await core.looks()
    path.chmod(0o600)
    await core.looks()
    (alarm,) = core.alarms
    assert "may not be run any more" in alarm
    install(installer, ADAPTERS["cline"])
    assert await core.looks() == ["policy.intact"]


async def test_a_hook_that_is_written_into_our_group_changes_nothing_of_ours(
    places: Paths, installer: Installer
) -> None:
    path, *_ = install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    settings = json.loads(path.read_text())
    group = settings["hooks"]["PreToolUse"][0]
    group["hooks"].append({"type": "command", "command": "true"})
    path.write_text(json.dumps(settings))
    assert await core.looks(3) == []
    group["matcher"] = "Read"
    path.write_text(json.dumps(settings))
    assert await core.looks(3) == ["policy.tampered"]


async def test_a_byte_order_mark_hides_no_switch(places: Paths, installer: Installer) -> None:
    path, *_ = install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    settings = json.loads(path.read_text()) | {"disableAllHooks": True}
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(settings).encode())
    await core.looks()
    assert '"disableAllHooks"' in core.alarms[0]


async def test_a_file_that_others_write_all_the_time_is_told_once(
    places: Paths, installer: Installer
) -> None:
    path, *_ = install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    settings = json.loads(path.read_text())
    settings["disableAllHooks"] = True
    kinds = []
    for number in range(4):
        path.write_text(json.dumps(settings | {"n": number}))
        kinds += await core.looks(1)
    assert kinds == ["policy.tampered"]


def becomes_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def becomes_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def becomes_endless(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def becomes_huge(path: Path) -> None:
    text = path.read_bytes()
    path.write_bytes(b" " * (READ_BYTES + 1) + text)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (becomes_folder, "it is no file"),
        (becomes_pipe, "it is no file"),
        (becomes_endless, "it is no file"),
        (becomes_huge, "it is larger than 16 MiB"),
    ],
)
async def test_what_cannot_be_read_is_not_said_to_be_gone(
    change: Callable[[Path], None], words: str, places: Paths, installer: Installer
) -> None:
    path, *_ = install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    change(path)
    await core.looks()
    (found,) = core.desk.hub.recorder.state.gate.tampered
    assert f"cannot be read, and Claude Code may not read it either ({words})" in found.what
    assert found.mend == "mend or remove ~/.claude/settings.json, then watchgate install claude"


@pytest.mark.parametrize("code", [errno.ESTALE, errno.EIO, errno.EMFILE])
async def test_a_home_that_is_away_is_no_alarm_and_mends_none(
    code: int, places: Paths, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, *_ = install(installer, CLAUDE)
    core = Core(places)
    await core.looks()

    def away(*_args: object, **_kwargs: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as network:
        network.setattr(os, "open", away)
        network.setattr(Path, "stat", away)
        assert await core.looks(3) == []
    assert core.alarms == []
    path.unlink()
    await core.looks()
    with monkeypatch.context() as network:
        network.setattr(os, "open", away)
        network.setattr(Path, "stat", away)
        await core.looks(3)
    assert len(core.alarms) == 1


async def test_the_mend_of_a_project_names_its_scope_and_its_folder(
    places: Paths, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    installer = Installer(places, os.environ, project)
    installer.install(installer.plan_install(CLAUDE, "project", GUARD, PYTHON), PYTHON)
    core = Core(places)
    await core.looks()
    (project / ".claude" / "settings.local.json").unlink()
    places.client.unlink()
    await core.looks()
    mends = {each.mend for each in core.desk.hub.recorder.state.gate.tampered}
    assert mends == {f"watchgate install claude --scope project, in {project}"}


async def test_who_uninstalls_all_and_removes_the_rest_gets_no_alarm(
    places: Paths, installer: Installer
) -> None:
    install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    uninstall(installer, CLAUDE)
    await core.looks()
    shutil.rmtree(places.data_dir)
    assert "policy.tampered" not in await core.looks(3)
    assert "policy.tampered" not in await Core(places).looks(3)


async def test_a_core_may_look_for_as_long_as_the_client_is_compiled(
    places: Paths, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    newer = {path: text + b"#" for path, text in hook_client.packaged_copy(places).items()}
    monkeypatch.setattr(hook_client, "packaged_copy", lambda _: newer)
    found = []
    monkeypatch.setattr(hook_client, "renew_bytecode", lambda *_: found.append(examined(core)))
    install(installer, CLAUDE)
    assert found == [{}]
    assert "policy.tampered" not in await core.looks(3)


def examined(core: Core) -> object:
    return core.watch._examine()


async def test_bytecode_of_an_older_client_is_not_held_against_the_new_one(
    places: Paths, installer: Installer
) -> None:
    """Another interpreter than the installing one is not the one it was compiled for."""
    install(installer, CLAUDE)
    path = hook_client.bytecode_directory(places) / "watchgate_client.cpython-38.pyc"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"old" * 10)
    install(installer, CLAUDE)
    path.unlink()
    install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    path.write_bytes(b"new" * 10)
    assert "policy.tampered" not in await core.looks(3)


async def test_what_was_mended_while_no_core_ran_is_on_record(
    places: Paths, installer: Installer
) -> None:
    path, *_ = install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    path.unlink()
    await core.looks()
    install(installer, CLAUDE)
    assert await Core(places).looks() == ["policy.intact"]
    assert await Core(places).looks() == []


async def test_rules_that_cannot_be_used_are_not_said_to_be_in_force(places: Paths) -> None:
    places.policy.write_text("version = 1\n")
    await Core(places).looks()
    places.policy.write_text("broken")
    broken = Core(places)
    broken.watch.tell_of_rules()
    await broken.looks()
    assert "policy.changed" not in broken.desk.kinds()
    places.policy.write_text("version = 1\n")
    mended = Core(places)
    mended.watch.tell_of_rules()
    assert "policy.changed" not in mended.desk.kinds()


@pytest.mark.parametrize(
    "value", ['"\\ud800"', "1" * 30, "1" * 5_000, "1e999"], ids=["surrogate", "big", "huge", "inf"]
)
async def test_no_value_in_a_settings_file_keeps_the_rest_from_being_looked_at(
    value: str, places: Paths, installer: Installer
) -> None:
    path, *_ = install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    settings = json.loads(path.read_text())
    settings["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = "@"
    path.write_text(json.dumps(settings).replace('"@"', value))
    places.client.unlink()
    await core.looks()
    assert {each.part for each in core.desk.hub.recorder.state.gate.tampered} == {"hooks", "client"}


async def test_a_list_that_names_no_real_place_is_no_list(
    places: Paths, installer: Installer
) -> None:
    install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    listed = places.installed.read_text()
    places.installed.write_text(listed.replace(str(places.client), "\\u0000"))
    await core.looks()
    (alarm,) = core.alarms
    assert "the list of what was installed" in alarm

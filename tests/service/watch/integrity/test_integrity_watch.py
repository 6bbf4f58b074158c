"""Whatever others do to the files that the gate rests on is found, told once, and told when mended.

Real installations into throw-away homes, of every form in which agents keep their hooks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.client import fake_core
from tests.service.watch.integrity.watched import (
    AGENTS,
    CLAUDE,
    GUARD,
    PYTHON,
    Core,
    install,
    remove,
    uninstall,
)
from watchgate.agents.base import Adapter
from watchgate.link.paths import Paths
from watchgate.service.setup import hook_client
from watchgate.service.setup.installer import Installer
from watchgate.service.watch.integrity.examiner import MAX_PROJECTS

BASE = Path(fake_core.PYTHON)
RENEW = hook_client.renew_bytecode
every = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)


@every
async def test_our_own_installing_and_taking_out_is_no_alarm_and_on_record(
    agent: Adapter, places: Paths, installer: Installer
) -> None:
    core = Core(places)
    assert await core.looks() == []
    install(installer, agent)
    assert set(await core.looks(3)) == {"notice"}
    assert any(words.endswith(": installed") for words in core.notices)
    uninstall(installer, agent)
    assert set(await core.looks(3)) == {"notice"}
    assert core.notices[-1].endswith("no longer in the list of what is installed")
    assert core.alarms == []


@every
async def test_a_file_of_hooks_that_goes_is_an_alarm_until_it_is_installed_again(
    agent: Adapter, places: Paths, installer: Installer
) -> None:
    path, *_ = install(installer, agent)
    core = Core(places)
    assert "policy.tampered" not in await core.looks()
    path.unlink()
    assert await core.looks(4) == ["policy.tampered"]
    (alarm,) = core.alarms
    assert "is gone" in alarm
    assert "run ungated" in alarm
    install(installer, agent)
    assert await core.looks(4) == ["policy.intact"]
    assert core.alarms == []


@every
async def test_an_entry_that_is_made_another_is_an_alarm(
    agent: Adapter, places: Paths, installer: Installer
) -> None:
    path, *_ = install(installer, agent)
    core = Core(places)
    await core.looks()
    told = path.read_text()
    path.write_text(told.replace("watchgate", "watchgone"))
    assert path.read_text() != told
    assert "policy.tampered" in await core.looks()
    (found,) = core.desk.hub.recorder.state.gate.tampered
    assert (found.part, found.agent, found.path) == ("hooks", agent.name, str(path))
    assert found.mend == f"watchgate install {agent.name}"
    path.write_text(told)
    assert "policy.intact" in await core.looks()


def without_events(settings: dict[str, object]) -> None:
    settings["hooks"] = {}


def without_gate(settings: dict[str, object]) -> None:
    del settings["hooks"]["PreToolUse"]  # type: ignore[attr-defined]


def switched_off(settings: dict[str, object]) -> None:
    settings["disableAllHooks"] = True


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            without_events,
            "of Claude Code were removed from ~/.claude/settings.json: its calls run ungated",
        ),
        (without_gate, "lost the gate entries of Claude Code for PreToolUse: those run ungated"),
        (switched_off, '"disableAllHooks" in ~/.claude/settings.json switches all hooks off'),
    ],
)
async def test_an_alarm_says_what_was_done_and_what_it_means(
    change: Callable[[dict[str, object]], None],
    words: str,
    places: Paths,
    installer: Installer,
) -> None:
    path, *_ = install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    settings = json.loads(path.read_text())
    change(settings)
    path.write_text(json.dumps(settings))
    await core.looks()
    (alarm,) = core.alarms
    assert words in alarm


async def test_what_else_stands_in_the_file_is_nobodys_business(
    places: Paths, installer: Installer
) -> None:
    path, *_ = install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    settings = json.loads(path.read_text())
    others = {"hooks": [{"type": "command", "command": "true"}]}
    settings["model"] = "opus"
    settings["hooks"]["PreToolUse"].append(others)
    settings["hooks"] = dict(reversed(settings["hooks"].items()))
    path.write_text(json.dumps(settings, indent=7))
    assert await core.looks(3) == []


async def test_a_file_that_cannot_be_read_any_more_is_an_alarm(
    places: Paths, installer: Installer
) -> None:
    path, *_ = install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    path.write_text("{")
    await core.looks()
    (alarm,) = core.alarms
    assert "cannot be read, and Claude Code may not read it either" in alarm


def change_quietly(path: Path) -> None:
    """Puts something else there that has the size and the time of what was there."""
    before = path.stat()
    path.write_bytes(path.read_bytes()[:-1] + b"#")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("name", ["client", "client_module"])
async def test_another_client_in_place_of_ours_is_an_alarm(
    name: str, places: Paths, installer: Installer
) -> None:
    install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    path: Path = getattr(places, name)
    change_quietly(path)
    await core.looks()
    (alarm,) = core.alarms
    assert "is not the one that was installed" in alarm
    assert core.desk.hub.recorder.state.gate.tampered[0].mend == "watchgate install claude"
    remove(path)
    await core.looks()
    assert core.alarms[0].startswith("the hook client")
    assert "is gone" in core.alarms[0]


async def test_another_program_in_place_of_the_native_client_is_an_alarm(
    places: Paths, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_client, "packaged_native", lambda: b"native")
    setting = msgspec.structs.replace(GUARD, native=True)
    changes = installer.plan_install(CLAUDE, "user", setting, PYTHON)
    installer.install(changes, PYTHON, native=True)
    core = Core(places)
    await core.looks()
    assert core.alarms == []
    places.native_client.write_bytes(b"theirs")
    await core.looks()
    (alarm,) = core.alarms
    assert "hook-client is not the one that was installed" in alarm


async def test_another_way_out_than_the_installed_one_is_an_alarm_but_none_at_all_is_not(
    places: Paths, installer: Installer
) -> None:
    install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    change_quietly(places.uninstaller)
    await core.looks()
    (alarm,) = core.alarms
    assert "who takes hooks out with it runs what else is in it" in alarm
    remove(places.uninstaller)
    await core.looks()
    assert core.alarms == []


async def test_bytecode_that_the_client_does_not_compile_to_is_an_alarm(
    places: Paths, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_client, "renew_bytecode", RENEW)
    installer.install(installer.plan_install(CLAUDE, "user", GUARD, BASE), BASE)
    core = Core(places)
    await core.looks()
    (path,) = hook_client.cached_bytecode(places)
    os.utime(places.client_module, ns=(0, 0))
    remove(path)
    assert RENEW(places, BASE)
    assert await core.looks(3) == []
    change_quietly(path)
    await core.looks()
    (alarm,) = core.alarms
    assert "is not what the installed hook client compiles to" in alarm


async def test_a_change_that_was_made_while_no_core_ran_is_found_and_said_to_be_that(
    places: Paths, installer: Installer
) -> None:
    path, *_ = install(installer, CLAUDE)
    await Core(places).looks()
    path.unlink()
    core = Core(places)
    assert await core.looks() == ["policy.tampered"]
    assert core.alarms[0].endswith("(this came about while no core ran)")
    again = Core(places)
    await again.looks()
    assert again.alarms[0].endswith("run ungated")


async def test_who_takes_the_list_away_as_well_is_found_all_the_same(
    places: Paths, installer: Installer
) -> None:
    path, *_ = install(installer, CLAUDE)
    await Core(places).looks()
    path.unlink()
    places.installed.unlink()
    core = Core(places)
    assert await core.looks() == ["policy.tampered", "policy.tampered"]
    assert any("the list of what was installed" in words for words in core.alarms)
    install(installer, CLAUDE)
    await core.looks(3)
    assert core.alarms == []


async def test_a_project_that_is_gone_is_no_alarm_but_hooks_that_left_it_are(
    places: Paths, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    installer = Installer(places, os.environ, project)
    changes = installer.plan_install(CLAUDE, "project", GUARD, PYTHON)
    installer.install(changes, PYTHON)
    core = Core(places)
    await core.looks()
    (path,) = [change.part.path for change in changes]
    path.rename(path.with_suffix(".away"))
    await core.looks()
    assert len(core.alarms) == 1
    project.rename(tmp_path / "elsewhere")
    await core.looks()
    assert core.alarms == []


async def test_rules_that_changed_while_no_core_ran_are_on_record_with_both_digests(
    places: Paths,
) -> None:
    places.policy.write_text("version = 1\n")
    first = Core(places)
    first.watch.tell_of_rules()
    await first.looks()
    assert "policy.changed" not in first.desk.kinds()
    places.policy.write_text("version = 1\n# more\n")
    core = Core(places)
    core.watch.tell_of_rules()
    told = core.desk.last("policy.changed")
    assert (told["part"], told["path"]) == ("policy", str(places.policy))
    assert len({told["was"], told["digest"]}) == 2
    assert core.desk.hub.recorder.state.gate.policy == ""


async def test_what_the_core_cannot_keep_is_told_once(places: Paths, installer: Installer) -> None:
    install(installer, CLAUDE)
    places.integrity.with_name("integrity.json.new").mkdir()
    core = Core(places)
    kinds = await core.looks(3)
    assert kinds.count("policy.fault") == 1
    assert "would not show" in core.desk.last("policy.fault")["what"]


async def test_a_look_at_what_did_not_change_reads_nothing(
    places: Paths, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from watchgate.service.watch.integrity import examiner

    install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    read: list[Path] = []
    monkeypatch.setattr(examiner, "looked_at", read.append)
    await core.looks(3)
    assert read == []


GAG = {"env": {"LD_PRELOAD": "./gag.so"}}


@pytest.mark.parametrize(
    ("agent", "file", "content"),
    [
        ("claude", ".claude/settings.json", json.dumps(GAG)),
        ("claude", ".claude/settings.local.json", json.dumps(GAG)),
        ("claude", ".claude/settings.json", '{"disableAllHooks": true}'),
        ("claude", ".claude/settings.json", json.dumps(GAG)[:-1] + ","),
        ("gemini", ".env", "LD_PRELOAD=./gag.so\n"),
        ("gemini", ".gemini/.env", "LD_PRELOAD=./gag.so\n"),
        ("gemini", "../.env", "LD_PRELOAD=./gag.so\n"),
    ],
)
async def test_a_folder_that_can_silence_hooks_is_an_alarm_as_soon_as_an_agent_enters_it(
    places: Paths, installer: Installer, tmp_path: Path, agent: str, file: str, content: str
) -> None:
    core, folder = Core(places), tmp_path / "src" / "project"
    install(installer, AGENTS[agent])
    path = folder / file
    folder.mkdir(parents=True)
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    await core.looks(3)
    assert core.alarms == []
    core.watch.entered(agent, str(folder))
    await core.watch.look_at_folders()
    (what,) = core.alarms
    assert ("LD_PRELOAD" in what) is ("LD_PRELOAD" in content)
    assert "run ungated" in what
    assert await core.looks(3) == [], "it is told once"
    path.unlink()
    assert await core.looks() == ["policy.intact"]
    path.write_text(content)
    assert "policy.tampered" in await core.looks(3), "it is watched as long as the core runs"


async def test_a_folder_of_an_agent_without_hooks_is_let_be(
    places: Paths, installer: Installer, tmp_path: Path
) -> None:
    core = Core(places)
    install(installer, AGENTS["gemini"])
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps(GAG))
    await core.looks(3)
    core.watch.entered("claude", str(tmp_path))
    await core.watch.look_at_folders()
    assert core.alarms == []


async def test_a_variable_in_the_users_own_settings_is_an_alarm(
    places: Paths, installer: Installer
) -> None:
    core = Core(places)
    (path,) = install(installer, CLAUDE)[:1]
    await core.looks(3)
    settings = json.loads(path.read_text()) | GAG
    path.write_text(json.dumps(settings))
    assert await core.looks(3) == ["policy.tampered"]
    (what,) = core.alarms
    assert "LD_PRELOAD" in what
    assert "take LD_PRELOAD out of" in core.desk.hub.recorder.state.gate.tampered[0].mend


@pytest.mark.parametrize("odd", ["fifo", "link", "folder"])
async def test_an_odd_file_in_a_folder_holds_nobody_up(
    places: Paths, installer: Installer, tmp_path: Path, odd: str
) -> None:
    core = Core(places)
    install(installer, AGENTS["gemini"])
    path = tmp_path / ".env"
    if odd == "fifo":
        os.mkfifo(path)
    elif odd == "link":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    await core.looks(3)
    core.watch.entered("gemini", str(tmp_path))
    await core.watch.look_at_folders()
    assert core.alarms == []


async def test_of_very_many_folders_the_newest_are_watched(
    places: Paths, installer: Installer, tmp_path: Path
) -> None:
    core = Core(places)
    install(installer, CLAUDE)
    await core.looks(3)
    for number in range(MAX_PROJECTS + 1):
        folder = tmp_path / f"p{number}"
        (folder / ".claude").mkdir(parents=True)
        core.watch.entered("claude", str(folder))
    await core.watch.look_at_folders()
    for number in (0, 1, MAX_PROJECTS):
        (tmp_path / f"p{number}" / ".claude" / "settings.json").write_text(json.dumps(GAG))
    await core.looks(3)
    told = sorted(Path(each.path).parts[-3] for each in core.desk.hub.recorder.state.gate.tampered)
    assert told == ["p1", f"p{MAX_PROJECTS}"]

"""Installing into an agent's own files, and giving the files back, for every agent."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from tests.agents.payloads import INSTALLABLE
from tests.service.setup.forms.cases import texts
from watchgate.agents.base import Adapter
from watchgate.agents.registry import ADAPTERS
from watchgate.link.paths import paths
from watchgate.service.setup import hook_client
from watchgate.service.setup.agent_files import InstallRefusal, hook_path, is_folder, setup_of
from watchgate.service.setup.forms.form_editor import Table
from watchgate.service.setup.forms.guarded_command import parse_command
from watchgate.service.setup.hook_checks import check_entries
from watchgate.service.setup.installer import HookSettings, Installer

GUARD = HookSettings(profile="guard", client_deadline_s=3660, status_line="set")
STRICT = HookSettings(profile="strict", client_deadline_s=60)
PYTHON = Path(sys.executable)
AGENTS = {name: ADAPTERS[name] for name in INSTALLABLE}
EDITED = {name: each for name, each in AGENTS.items() if not is_folder(setup_of(each))}
FOLDERS = {name: each for name, each in AGENTS.items() if is_folder(setup_of(each))}
CASES = [
    pytest.param(agent, text, id=f"{name}: {what}")
    for name, agent in EDITED.items()
    for what, text in {"empty": "", "blank": " \n", **texts(setup_of(agent))}.items()
]
every = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
edited = pytest.mark.parametrize("agent", EDITED.values(), ids=EDITED)
folders = pytest.mark.parametrize("agent", FOLDERS.values(), ids=FOLDERS)


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for agent in AGENTS.values():
        monkeypatch.delenv(setup_of(agent).variable or "NONE", raising=False)


@pytest.fixture
def edits_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """For many cases of what an editor writes: no wait for the disk, no bytecode of the client."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(hook_client, "renew_bytecode", lambda *_: True)


@pytest.fixture
def installer(tmp_path: Path) -> Installer:
    return Installer(paths(os.environ), os.environ, tmp_path)


def place_of(agent: Adapter) -> Path:
    return hook_path(agent, "user", os.environ, Path("/"))


def put(agent: Adapter, content: bytes) -> Path:
    path = place_of(agent)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def plain(agent: Adapter) -> str:
    return texts(setup_of(agent))["hooks of others"]


def install(installer: Installer, agent: Adapter, setting: HookSettings = GUARD) -> None:
    changes = installer.plan_install(agent, "user", setting, PYTHON)
    installer.install(changes, PYTHON)


def uninstall(installer: Installer, agent: Adapter) -> None:
    installer.uninstall(installer.plan_uninstall(agent, "user", PYTHON))


def ours(installer: Installer, agent: Adapter) -> list[Table]:
    parts = installer.parts(agent, "user", GUARD, PYTHON)
    present = [part for part in parts if part.path.exists()]
    return [found for part in present if (found := part.editor.ours(part.path.read_text()))]


@every
def test_where_there_was_nothing_there_is_nothing_again(
    installer: Installer, agent: Adapter, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    before = sorted(home.rglob("*"))
    install(installer, agent)
    assert ours(installer, agent) == [
        part.table for part in installer.parts(agent, "user", GUARD, PYTHON)
    ]

    uninstall(installer, agent)

    assert not ours(installer, agent)
    assert sorted(path for path in home.rglob("*") if "watchgate" not in str(path)) == [
        path for path in before if "watchgate" not in str(path)
    ]


@pytest.mark.usefixtures("edits_alone")
@pytest.mark.parametrize(("agent", "text"), CASES)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "a byte order mark"])
def test_uninstall_gives_every_byte_back(
    installer: Installer, agent: Adapter, text: str, mark: bytes
) -> None:
    path = put(agent, mark + text.encode())

    install(installer, agent)
    install(installer, agent, STRICT)
    uninstall(installer, agent)

    assert path.read_bytes() == mark + text.encode()


@edited
def test_of_a_file_changed_meanwhile_only_our_entries_go(
    installer: Installer, agent: Adapter
) -> None:
    text = plain(agent)
    path = put(agent, text.encode())
    install(installer, agent)
    path.write_text(path.read_text().replace("their-tool", "their-new-tool"))

    install(installer, agent)
    uninstall(installer, agent)

    assert path.read_text() == text.replace("their-tool", "their-new-tool")


@edited
def test_a_lost_backup_still_leaves_no_entry_behind(installer: Installer, agent: Adapter) -> None:
    path = put(agent, plain(agent).encode())
    install(installer, agent)
    shutil.rmtree(paths(os.environ).data_dir / "backups")

    uninstall(installer, agent)

    assert path.read_text() == plain(agent)


@edited
def test_no_command_of_ours_is_left_where_the_file_was_written_anew(
    installer: Installer, agent: Adapter
) -> None:
    path = put(agent, plain(agent).encode())
    install(installer, agent)
    if path.suffix == ".json":
        path.write_text(json.dumps(json.loads(path.read_text())))

    uninstall(installer, agent)

    assert "watchgate-hook" not in path.read_text()
    assert "their-tool" in path.read_text()


@every
def test_a_second_installation_writes_nothing(installer: Installer, agent: Adapter) -> None:
    install(installer, agent)

    plan = installer.plan_install(agent, "user", GUARD, PYTHON)
    before = [change.path.stat().st_ino for change in plan]
    installer.install(plan, PYTHON)

    assert not any(change.needed for change in plan)
    assert [change.path.stat().st_ino for change in plan] == before


@edited
def test_a_link_stays_a_link_and_its_target_keeps_its_mode(
    installer: Installer, agent: Adapter, tmp_path: Path
) -> None:
    target = tmp_path / "dotfiles"
    target.write_text(plain(agent))
    target.chmod(0o640)
    path = place_of(agent)
    path.parent.mkdir(parents=True)
    path.symlink_to(target)

    install(installer, agent)
    assert path.is_symlink()
    assert ours(installer, agent)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    uninstall(installer, agent)

    assert (path.is_symlink(), target.read_text()) == (True, plain(agent))


@every
def test_a_read_only_file_is_refused(installer: Installer, agent: Adapter) -> None:
    install(installer, agent)
    for part in installer.parts(agent, "user", GUARD, PYTHON):
        part.path.chmod(0o400)

    with pytest.raises(InstallRefusal, match="read-only"):
        installer.plan_install(agent, "user", STRICT, PYTHON)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
@edited
def test_a_read_only_directory_is_refused(installer: Installer, agent: Adapter) -> None:
    path = put(agent, plain(agent).encode())
    path.parent.chmod(0o500)

    with pytest.raises(InstallRefusal, match="cannot be written to"):
        installer.plan_install(agent, "user", GUARD, PYTHON)


@edited
@pytest.mark.parametrize("content", [b'{"a": ', b"[[hooks]", b'a = "\xff"', b'{"hooks": 3}\n= 1'])
def test_a_file_that_cannot_be_understood_is_refused_and_untouched(
    installer: Installer, agent: Adapter, content: bytes
) -> None:
    path = put(agent, content)

    with pytest.raises(InstallRefusal, match="nothing was changed"):
        installer.plan_install(agent, "user", GUARD, PYTHON)
    with pytest.raises(InstallRefusal, match="nothing was changed"):
        installer.plan_uninstall(agent, "user", PYTHON)

    assert path.read_bytes() == content


@edited
def test_comments_are_refused_where_the_agent_reads_none(
    installer: Installer, agent: Adapter
) -> None:
    put(agent, b'{ // note\n "a": 1}')

    if setup_of(agent).comments:
        install(installer, agent)
        assert "// note" in place_of(agent).read_text()
    else:
        with pytest.raises(InstallRefusal):
            installer.plan_install(agent, "user", GUARD, PYTHON)


@edited
def test_a_file_that_changes_meanwhile_is_not_overwritten(
    installer: Installer, agent: Adapter
) -> None:
    path = put(agent, plain(agent).encode())
    plan = installer.plan_install(agent, "user", GUARD, PYTHON)
    path.write_text(plain(agent) + "\n")

    with pytest.raises(InstallRefusal, match="try again"):
        installer.install(plan, PYTHON)

    assert path.read_text() == plain(agent) + "\n"


@folders
def test_a_file_of_somebody_else_under_our_name_is_refused(
    installer: Installer, agent: Adapter
) -> None:
    part = installer.parts(agent, "user", GUARD, PYTHON)[0]
    part.path.parent.mkdir(parents=True)
    part.path.write_text("somebody's own\n")

    with pytest.raises(InstallRefusal, match="nothing was changed"):
        installer.plan_install(agent, "user", GUARD, PYTHON)
    uninstall(installer, agent)

    assert part.path.read_text() == "somebody's own\n"


@every
def test_a_project_gets_a_file_that_stays_uncommitted_or_a_refusal(
    installer: Installer, agent: Adapter, tmp_path: Path
) -> None:
    project = setup_of(agent).project
    if not project:
        with pytest.raises(InstallRefusal, match="--scope user"):
            installer.plan_install(agent, "project", GUARD, PYTHON)
        return

    [*changes] = installer.plan_install(agent, "project", GUARD, PYTHON)

    assert {change.path for change in changes} == {tmp_path / project}


@every
def test_the_agents_own_variable_moves_its_files(agent: Adapter, tmp_path: Path) -> None:
    variable = setup_of(agent).variable
    if variable:
        moved = hook_path(agent, "user", {"HOME": "/h", variable: str(tmp_path)}, Path("/"))
        assert moved.is_relative_to(tmp_path)
    assert hook_path(agent, "user", {"HOME": "/h"}, Path("/")).is_relative_to("/h")


@every
def test_the_client_gives_up_before_the_agent_does(installer: Installer, agent: Adapter) -> None:
    for part in installer.parts(agent, "user", GUARD, PYTHON):
        entries = {entry.event: entry for entry in agent.entries("guard")}
        for written in part.editor.written(part.table):
            installed = parse_command(written.command)
            assert installed is not None
            limit_s = written.timeout_s or entries[installed.event].timeout_s
            if installed.lane != "observe" and installed.event in entries:
                assert installed.deadline_s <= min(3660, limit_s - 5)


@every
def test_the_client_is_brought_up_to_date_even_where_the_entries_are(
    installer: Installer, agent: Adapter
) -> None:
    install(installer, agent)
    places = paths(os.environ)
    places.client_module.write_text("old")
    places.uninstaller.unlink()

    install(installer, agent)

    packaged = hook_client.packaged_copy(places)
    assert {path: path.read_bytes() for path in packaged} == packaged


def test_taking_one_agent_out_leaves_the_client_to_the_others(installer: Installer) -> None:
    """It goes with the last one, by `leave`: a command without it denies."""
    install(installer, ADAPTERS["claude"])

    uninstall(installer, ADAPTERS["claude"])

    assert paths(os.environ).client.exists()
    assert paths(os.environ).client_module.exists()


def test_backups_are_private(installer: Installer) -> None:
    put(ADAPTERS["claude"], b'{"env": {"KEY": "secret"}}')

    install(installer, ADAPTERS["claude"])

    backups = paths(os.environ).data_dir / "backups"
    assert {stat.S_IMODE(each.stat().st_mode) for each in (backups, backups.parent)} == {0o700}
    assert {stat.S_IMODE(file.stat().st_mode) for file in backups.iterdir()} == {0o600}


def test_another_tool_that_came_later_stays_and_is_said_to_move(installer: Installer) -> None:
    path = put(ADAPTERS["codex"], b"{}\n")
    install(installer, ADAPTERS["codex"])
    value = json.loads(path.read_text())
    value["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "late"}]})
    path.write_text(json.dumps(value))

    [plan] = installer.plan_uninstall(ADAPTERS["codex"], "user", PYTHON)
    installer.uninstall((plan,))

    assert plan.displaced == ("Stop",)
    assert json.loads(path.read_text()) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "late"}]}]}
    }


def test_the_plan_shows_its_change_as_a_diff(installer: Installer) -> None:
    put(ADAPTERS["claude"], b'{\n  "a": 1\n}\n')

    [plan] = installer.plan_install(ADAPTERS["claude"], "user", GUARD, PYTHON)

    assert '-  "a": 1\n+  "a": 1,\n' in plan.diff()
    assert '"statusMessage": "watchgate: waiting for an operator (watchgate ls)"' in plan.diff()


def test_claude_shows_our_status_line_where_it_shows_none(installer: Installer) -> None:
    path = put(ADAPTERS["claude"], b'{"a": 1}')

    install(installer, ADAPTERS["claude"])
    shown = json.loads(path.read_text())["statusLine"]
    path.write_text(path.read_text() + "\n")
    uninstall(installer, ADAPTERS["claude"])

    assert shown["type"] == "command"
    assert "StatusLine" in shown["command"]
    assert path.read_text() == '{"a": 1}\n'


def test_a_status_line_of_the_user_stays(installer: Installer) -> None:
    text = '{"statusLine": {"type": "command", "command": "mine"}}'
    path = put(ADAPTERS["claude"], text.encode())

    [plan] = installer.plan_install(ADAPTERS["claude"], "user", GUARD, PYTHON)
    installer.install((plan,), PYTHON)

    assert plan.status_line == "theirs"
    assert json.loads(path.read_text())["statusLine"]["command"] == "mine"


def test_a_denial_that_the_agent_can_enforce_itself_says_so(installer: Installer) -> None:
    [part] = installer.parts(ADAPTERS["claude"], "user", GUARD, PYTHON)

    gate, read = (hook for group in part.table["PreToolUse"] for hook in group["hooks"])
    [asked] = part.table["PermissionRequest"][0]["hooks"]
    assert gate["onFailure"] == "block"
    assert "onFailure" not in read
    assert "onFailure" not in asked


@pytest.mark.parametrize("name", ["gemini", "qwen"])
def test_an_agent_that_prints_a_hooks_name_is_given_ours_and_older_entries_get_it(
    installer: Installer, name: str
) -> None:
    agent = ADAPTERS[name]
    install(installer, agent)
    path = place_of(agent)
    hooks = [
        hook
        for groups in json.loads(path.read_text())["hooks"].values()
        for group in groups
        for hook in group["hooks"]
    ]
    assert {hook["name"] for hook in hooks} == {"watchgate"}
    now = path.read_text()
    path.write_text(now.replace('"name": "watchgate",\n', "").replace('"name": "watchgate", ', ""))
    assert '"name"' not in path.read_text()

    [plan] = installer.plan_install(agent, "user", GUARD, PYTHON)
    check = check_entries(agent, plan)
    assert (check.status, "differs" in check.text) == ("fail", True)
    installer.install((plan,), PYTHON)

    assert json.loads(path.read_text()) == json.loads(now)
    uninstall(installer, agent)
    assert not path.exists()

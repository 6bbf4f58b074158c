"""Installing into an agent's own file, and giving the file back."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from watchgate.link.paths import paths
from watchgate.service.setup import client_copy, hooks_file
from watchgate.service.setup.installer import Installer, Setting
from watchgate.service.setup.targets import Refusal, hooks_path

GUARD = Setting(profile="guard", client_deadline_s=3660)
PYTHON = Path(sys.executable)
THEIRS = {
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]}
}
CONTENTS = {
    "empty": b"",
    "blank": b" \n",
    "an object with space in it": b"{ }\n",
    "an empty table": b'{"hooks": {}}',
    "another tool's hooks": json.dumps(THEIRS, indent=2).encode(),
    "CRLF": json.dumps(THEIRS, indent=4).replace("\n", "\r\n").encode(),
    "tabs": json.dumps(THEIRS, indent="\t").encode() + b"\n\n",
    "a byte order mark": b"\xef\xbb\xbf" + json.dumps(THEIRS).encode(),
}


@pytest.fixture
def installer(tmp_path: Path) -> Installer:
    return Installer(paths(os.environ), os.environ, tmp_path)


@pytest.fixture(params=["claude", "codex"])
def agent(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def file_of(agent: str) -> Path:
    return hooks_path(agent, "user", os.environ, Path("/"))


def put(agent: str, content: bytes) -> Path:
    path = file_of(agent)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def install(installer: Installer, agent: str, setting: Setting = GUARD) -> None:
    installer.install(installer.plan_install(agent, "user", setting, PYTHON))


def uninstall(installer: Installer, agent: str) -> None:
    installer.uninstall(installer.plan_uninstall(agent, "user"))


def test_where_there_was_no_file_there_is_none_again(installer: Installer, agent: str) -> None:
    install(installer, agent)
    assert hooks_file.ours(file_of(agent).read_text()) == installer.table(agent, GUARD, PYTHON)

    uninstall(installer, agent)

    assert not file_of(agent).parent.exists()


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_uninstall_gives_every_byte_back(installer: Installer, agent: str, content: bytes) -> None:
    path = put(agent, content)

    install(installer, agent)
    install(installer, agent, Setting(profile="strict", client_deadline_s=60))
    uninstall(installer, agent)

    assert path.read_bytes() == content


def test_what_changed_between_the_two_stays(installer: Installer, agent: str) -> None:
    path = put(agent, b'{\n  "a": 1\n}\n')
    install(installer, agent)
    path.write_text(path.read_text().replace('"a": 1', '"a": 2'))

    install(installer, agent)
    uninstall(installer, agent)

    assert path.read_text() == '{\n  "a": 2\n}\n'


def test_another_tool_that_came_later_stays(installer: Installer, agent: str) -> None:
    path = put(agent, b"{}\n")
    install(installer, agent)
    value = json.loads(path.read_text())
    value["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "late"}]})
    path.write_text(json.dumps(value))

    plan = installer.plan_uninstall(agent, "user")
    installer.uninstall(plan)

    assert plan.displaced == ("Stop",)
    assert json.loads(path.read_text()) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "late"}]}]}
    }


def test_a_second_installation_writes_nothing(installer: Installer, agent: str) -> None:
    install(installer, agent)
    before = file_of(agent).stat()

    plan = installer.plan_install(agent, "user", GUARD, PYTHON)
    installer.install(plan)

    assert not plan.needed
    assert file_of(agent).stat().st_ino == before.st_ino


def test_a_link_stays_a_link_and_its_target_keeps_its_mode(
    installer: Installer, agent: str, tmp_path: Path
) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_text("{}")
    target.chmod(0o640)
    file_of(agent).parent.mkdir(parents=True)
    file_of(agent).symlink_to(target)

    install(installer, agent)

    assert file_of(agent).is_symlink()
    assert hooks_file.ours(target.read_text())
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_read_only_file_is_refused(installer: Installer, agent: str) -> None:
    path = put(agent, b"{}")
    path.chmod(0o400)

    with pytest.raises(Refusal, match="read-only"):
        installer.plan_install(agent, "user", GUARD, PYTHON)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_directory_is_refused(installer: Installer, agent: str) -> None:
    path = put(agent, b"{}")
    path.parent.chmod(0o500)

    with pytest.raises(Refusal, match="cannot be written to"):
        installer.plan_install(agent, "user", GUARD, PYTHON)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{\n "a": 1,\n}', "line 3"),
        (b'{ // note\n "a": 1}', "comment"),
        (b'{"hooks": []}', "not an object"),
        (b'{"a": "\xff"}', "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_understood_is_refused_and_untouched(
    installer: Installer, agent: str, content: bytes, says: str
) -> None:
    path = put(agent, content)

    with pytest.raises(Refusal, match=says):
        installer.plan_install(agent, "user", GUARD, PYTHON)

    assert path.read_bytes() == content


def test_a_file_that_changes_meanwhile_is_not_overwritten(installer: Installer, agent: str) -> None:
    path = put(agent, b"{}")
    plan = installer.plan_install(agent, "user", GUARD, PYTHON)
    path.write_bytes(b'{"new": true}')

    with pytest.raises(Refusal, match="try again"):
        installer.install(plan)

    assert path.read_bytes() == b'{"new": true}'


def test_a_lost_backup_still_leaves_no_entry_behind(installer: Installer, agent: str) -> None:
    path = put(agent, b'{"a": 1}\n')
    install(installer, agent)
    shutil.rmtree(paths(os.environ).data_dir / "backups")

    uninstall(installer, agent)

    assert path.read_bytes() == b'{"a": 1}\n'


def test_the_client_is_brought_up_to_date_even_where_the_entries_are(
    installer: Installer, agent: str
) -> None:
    install(installer, agent)
    places = paths(os.environ)
    places.client_module.write_text("old")

    install(installer, agent)

    assert {path: path.read_bytes() for path in (places.client_module, places.client)} == (
        client_copy.packaged(places)
    )


def test_the_client_outlives_the_last_entry(installer: Installer, agent: str) -> None:
    """A session that still runs has the old command in memory, which would deny without it."""
    install(installer, agent)

    uninstall(installer, agent)

    assert paths(os.environ).client.exists()
    assert paths(os.environ).client_module.exists()


def test_backups_are_private(installer: Installer) -> None:
    put("claude", b'{"env": {"KEY": "secret"}}')

    install(installer, "claude")

    backups = paths(os.environ).data_dir / "backups"
    assert stat.S_IMODE(backups.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in backups.iterdir()} == {0o600}


def test_a_project_keeps_claudes_hooks_in_its_local_file(
    installer: Installer, tmp_path: Path
) -> None:
    installer.install(installer.plan_install("claude", "project", GUARD, PYTHON))

    assert hooks_file.ours((tmp_path / ".claude" / "settings.local.json").read_text())
    assert not file_of("claude").exists()


def test_a_project_has_no_private_hooks_file_for_codex(installer: Installer) -> None:
    with pytest.raises(Refusal, match="--scope user"):
        installer.plan_install("codex", "project", GUARD, PYTHON)


def test_the_plan_shows_its_change_as_a_diff(installer: Installer) -> None:
    put("claude", b'{\n  "a": 1\n}\n')

    diff = installer.plan_install("claude", "user", GUARD, PYTHON).diff()

    assert '-  "a": 1\n+  "a": 1,\n' in diff
    assert '"statusMessage": "watchgate: waiting for an operator (watchgate ls)"' in diff


def test_codex_gets_whole_seconds_only(installer: Installer) -> None:
    groups = installer.table("codex", GUARD, PYTHON).values()

    timeouts = [hook["timeout"] for group in groups for each in group for hook in each["hooks"]]
    assert all(type(timeout) is int for timeout in timeouts)

"""Whatever others do to the files that the gate rests on is found, told once, and told when mended.

Real installations into throw-away homes, of every form in which agents keep their hooks.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents.payloads import INSTALLABLE
from tests.client import fake_core
from tests.service.desk import Desk
from watchgate.agents.base import Adapter
from watchgate.agents.registry import ADAPTERS
from watchgate.link.paths import Paths, paths
from watchgate.service.integrity.looked import READ_BYTES
from watchgate.service.integrity.watch import IntegrityWatch
from watchgate.service.policy.store import Policies
from watchgate.service.setup import client_copy
from watchgate.service.setup.installer import Installer, Setting
from watchgate.service.setup.targets import setup_of

GUARD = Setting(profile="guard", client_deadline_s=3660)
PYTHON = Path(sys.executable)
BASE = Path(fake_core.PYTHON)
RENEW = client_copy.renew_bytecode
AGENTS = {name: ADAPTERS[name] for name in INSTALLABLE}
every = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
CLAUDE = ADAPTERS["claude"]


class Core:
    """A core that looks after its files when the test says so."""

    def __init__(self, places: Paths) -> None:
        self.desk = Desk()
        self.places = places
        self.policies = Policies(((places.policy, "user"),))
        self.watch = IntegrityWatch(
            self.desk.hub, self.desk.clock, places, ADAPTERS, self.policies, os.environ
        )

    async def looks(self, times: int = 2) -> list[str]:
        """What the core says that is new after so many looks."""
        before = len(self.desk.console.records)
        for _ in range(times):
            await self.watch.look()
        return [record.kind for record in self.desk.console.records[before:]]

    @property
    def alarms(self) -> list[str]:
        """What the console shows in red."""
        return [each.what for each in self.desk.hub.recorder.state.gate.tampered]

    @property
    def notices(self) -> list[str]:
        return [r.data["detail"] for r in self.desk.console.records if r.kind == "notice"]


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
    monkeypatch.setattr(client_copy, "renew_bytecode", lambda *_: True)


def install(installer: Installer, agent: Adapter) -> list[Path]:
    changes = installer.plan_install(agent, "user", GUARD, PYTHON)
    installer.install(changes, PYTHON)
    return [change.part.path for change in changes if change.after is not None]


def uninstall(installer: Installer, agent: Adapter) -> None:
    installer.uninstall(installer.plan_uninstall(agent, "user", PYTHON))


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
    """Put something else there that has the size and the time of what was there."""
    before = path.stat()
    path.write_bytes(path.read_bytes()[:-1] + b"#")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def remove(path: Path) -> None:
    path.unlink()


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


async def test_bytecode_that_the_client_does_not_compile_to_is_an_alarm(
    places: Paths, installer: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_copy, "renew_bytecode", RENEW)
    installer.install(installer.plan_install(CLAUDE, "user", GUARD, BASE), BASE)
    core = Core(places)
    await core.looks()
    (path,) = client_copy.cached(places)
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
    from watchgate.service.integrity import examiner

    install(installer, CLAUDE)
    core = Core(places)
    await core.looks()
    read: list[Path] = []
    monkeypatch.setattr(examiner, "looked_at", read.append)
    await core.looks(3)
    assert read == []


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
    newer = {path: text + b"#" for path, text in client_copy.packaged(places).items()}
    monkeypatch.setattr(client_copy, "packaged", lambda _: newer)
    found = []
    monkeypatch.setattr(client_copy, "renew_bytecode", lambda *_: found.append(examined(core)))
    install(installer, CLAUDE)
    assert found == [{}]
    assert "policy.tampered" not in await core.looks(3)


def examined(core: Core) -> object:
    return core.watch._examine()


async def test_bytecode_of_an_older_client_is_not_held_against_the_new_one(
    places: Paths, installer: Installer
) -> None:
    """An interpreter that is no longer the installing one makes its own anew."""
    path = client_copy.bytecode_directory(places) / "watchgate_client.cpython-38.pyc"
    path.parent.mkdir(parents=True)
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

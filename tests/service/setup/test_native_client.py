"""The native client: taken where it proves itself, guarded and watched as the one in Python."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.client.compiled import compiled
from tests.client.fake_core import PYTHON
from watchgate.agents.registry import adapter
from watchgate.core.config.config import Config
from watchgate.link.paths import Paths, paths
from watchgate.service.doctor.doctor_run import Doctor
from watchgate.service.setup import hook_client, manifest
from watchgate.service.setup.agent_files import InstallRefusal, hook_path
from watchgate.service.setup.forms.guarded_command import parse_command
from watchgate.service.setup.hook_checks import Check
from watchgate.service.setup.installer import HookSettings, Installer

BASE = Path(PYTHON)
CLAUDE = adapter("claude")
NATIVE = HookSettings(profile="guard", client_deadline_s=60, native=True)
Carry = Callable[[bytes | None], None]


@pytest.fixture
def places() -> Paths:
    return paths(os.environ)


@pytest.fixture
def carry(monkeypatch: pytest.MonkeyPatch) -> Carry:
    """Has the package carry these bytes as its native client."""
    return lambda content: monkeypatch.setattr(hook_client, "packaged_native", lambda: content)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return compiled(tmp_path_factory.mktemp("native")).read_bytes()


def install(tmp_path: Path, places: Paths, setting: HookSettings = NATIVE) -> Path:
    installer = Installer(places, os.environ, tmp_path)
    changes = installer.plan_install(CLAUDE, "user", setting, BASE)
    installer.install(changes, BASE, native=setting.native)
    return hook_path(CLAUDE, "user", os.environ, tmp_path)


def commands(settings: Path) -> list[str]:
    entries = json.loads(settings.read_text())["hooks"]
    return [hook["command"] for each in entries.values() for one in each for hook in one["hooks"]]


def gate_of(settings: Path) -> str:
    found = ((each, parse_command(each)) for each in commands(settings))
    return next(each for each, parts in found if parts is not None and parts.lane == "gate")


def run(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["/bin/sh", "-c", line], input="{}", capture_output=True, text=True)


def denied(line: str) -> str:
    """The reason that a gate's command tells the model, whatever became of its client."""
    done = run(line)
    assert done.returncode == 2
    told = json.loads(done.stdout)["hookSpecificOutput"]
    assert told["permissionDecision"] == "deny"
    return str(told["permissionDecisionReason"])


def test_one_that_answers_as_the_reference_does_works(
    places: Paths, carry: Carry, program: bytes
) -> None:
    carry(program)
    before = sorted(places.data_dir.parent.parent.rglob("*"))

    assert hook_client.native_works(places, BASE)
    assert sorted(places.data_dir.parent.parent.rglob("*")) == before


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"\x7fELF of another machine",
        b"#!/bin/sh\nexit 0\n",
        b"#!/bin/sh\nexit 2\n",
        b'#!/bin/sh\nprintf %s "$6"\nexit 2\n',
        b"#!/nowhere/sh\n",
    ],
)
def test_one_that_does_not_is_not_taken(places: Paths, carry: Carry, content: bytes | None) -> None:
    carry(content)

    assert not hook_client.native_works(places, BASE)


def test_one_that_cannot_prove_to_be_whole_is_not_taken(
    places: Paths, carry: Carry, program: bytes
) -> None:
    carry(program[:-8])

    assert not hook_client.native_works(places, BASE)


def test_without_the_reference_nothing_proves_it(
    places: Paths, carry: Carry, program: bytes
) -> None:
    carry(program)

    assert not hook_client.native_works(places, Path("/nowhere/python3"))


def test_the_plain_package_carries_none() -> None:
    assert hook_client.packaged_native() is None


def test_installed_it_is_private_listed_and_what_hooks_run(
    tmp_path: Path, places: Paths, carry: Carry, program: bytes
) -> None:
    carry(program)

    settings = install(tmp_path, places)

    assert places.native_client.read_bytes() == program
    assert stat.S_IMODE(places.native_client.stat().st_mode) == 0o700
    assert str(places.native_client) in {
        each.path for each in manifest.load_manifest(places.installed) or ()
    }
    found = [parse_command(each) for each in commands(settings)]
    assert {(each.python, each.script) for each in found if each} == {(None, places.native_client)}
    assert "core is not running" in denied(gate_of(settings))


def test_without_it_hooks_run_python_and_no_native_file_is_written(
    tmp_path: Path, places: Paths, carry: Carry, program: bytes
) -> None:
    carry(program)

    settings = install(tmp_path, places, HookSettings(profile="guard", client_deadline_s=60))

    found = [parse_command(each) for each in commands(settings)]
    assert {each.script for each in found if each} == {places.client}
    assert not places.native_client.exists()


def test_one_that_other_agents_still_run_stays_watched(
    tmp_path: Path, places: Paths, carry: Carry, program: bytes
) -> None:
    carry(program)
    install(tmp_path, places)
    carry(None)

    install(tmp_path, places, HookSettings(profile="guard", client_deadline_s=60))

    assert places.native_client.read_bytes() == program
    assert str(places.native_client) in {
        each.path for each in manifest.load_manifest(places.installed) or ()
    }


def test_one_that_is_gone_and_not_to_come_back_is_not_watched_for_ever(
    tmp_path: Path, places: Paths, carry: Carry, program: bytes
) -> None:
    carry(program)
    install(tmp_path, places)
    carry(None)
    missing(places.native_client)

    install(tmp_path, places, HookSettings(profile="guard", client_deadline_s=60))

    listed = {each.path for each in manifest.load_manifest(places.installed) or ()}
    assert str(places.client) in listed
    assert str(places.native_client) not in listed


@pytest.mark.parametrize("name", ["native_client", "client", "client_module"])
def test_where_it_cannot_be_written_the_installation_is_refused_and_says_why(
    tmp_path: Path, places: Paths, carry: Carry, program: bytes, name: str
) -> None:
    carry(program)
    in_its_place: Path = getattr(places, name)
    in_its_place.mkdir(parents=True)

    with pytest.raises(InstallRefusal, match=f"cannot be written to .*{in_its_place.name}"):
        install(tmp_path, places)
    assert not hook_path(CLAUDE, "user", os.environ, tmp_path).exists()


def test_uninstalling_restores_the_bytes(
    tmp_path: Path, places: Paths, carry: Carry, program: bytes
) -> None:
    settings = hook_path(CLAUDE, "user", os.environ, tmp_path)
    settings.parent.mkdir(parents=True)
    settings.write_text('{ "theirs" : 1 }\n')
    carry(program)
    install(tmp_path, places)
    installer = Installer(places, os.environ, tmp_path)

    installer.uninstall(installer.plan_uninstall(CLAUDE, "user", BASE))

    assert settings.read_text() == '{ "theirs" : 1 }\n'


def missing(path: Path) -> None:
    path.unlink()


def not_to_be_run(path: Path) -> None:
    path.chmod(0o600)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def cut(path: Path) -> None:
    os.truncate(path, 100)


def zeros(path: Path) -> None:
    path.write_bytes(bytes(4_096))


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [missing, not_to_be_run, empty, cut, zeros, a_folder])
def test_a_gate_denies_with_a_reason_when_it_cannot_run(
    tmp_path: Path, places: Paths, carry: Carry, program: bytes, harm: Callable[[Path], None]
) -> None:
    carry(program)
    settings = install(tmp_path, places)
    harm(places.native_client)
    if harm is not_to_be_run and os.access(places.native_client, os.X_OK):
        pytest.skip("this user may run every file")

    reason = denied(gate_of(settings))

    assert reason.startswith("watchgate: the hook client ")
    assert "claude" in reason


@pytest.mark.parametrize(("act", "code"), [("77", 0), ("2", 2), ("0", 2), ("1", 2), ("139", 2)])
def test_a_gate_passes_on_what_it_says_and_turns_its_failures_into_denials(
    tmp_path: Path, places: Paths, carry: Carry, act: str, code: int
) -> None:
    carry(b'#!/bin/sh\ncat\necho "$@" >&2\nexit %b\n' % act.encode())
    done = run(gate_of(install(tmp_path, places)))

    assert done.returncode == code
    assert done.stdout.startswith("{}")
    assert done.stderr.startswith(f"{places.ingest_socket} claude gate PreToolUse ")


def test_elsewhere_its_failures_are_no_opinion(tmp_path: Path, places: Paths, carry: Carry) -> None:
    carry(b"#!/bin/sh\nexit 1\n")
    open_ones = [
        each
        for each in commands(install(tmp_path, places))
        if (found := parse_command(each)) is not None and found.lane != "gate"
    ]

    assert {run(each).returncode for each in open_ones} == {0}


def doctor(tmp_path: Path, places: Paths) -> Iterator[Check]:
    found = Doctor(places, Config(), {**os.environ, "PATH": ""}, tmp_path, fix=False)
    return found.checks([CLAUDE], named=True)


def findings(tmp_path: Path, places: Paths) -> dict[str, Check]:
    return {each.check: each for each in doctor(tmp_path, places)}


CONFIGURED = HookSettings(
    profile=Config().profile,
    client_deadline_s=Config().approval.client_deadline_s,
    margin_s=Config().approval.margin_s,
    native=True,
)


def test_the_doctor_says_which_one_hooks_run(
    tmp_path: Path, places: Paths, carry: Carry, program: bytes
) -> None:
    carry(program)
    install(tmp_path, places, CONFIGURED)

    found = findings(tmp_path, places)

    assert found["native client"].status == "ok"
    told = f"{places.native_client} is the native client of this version"
    assert found["claude: native client"] == Check("claude: native client", "ok", told)
    assert found["claude: hooks"].status == "ok"
    assert "it denies, as no core runs" in found["claude: gate answers"].text


@pytest.mark.parametrize(
    ("harm", "told"), [(missing, "No such file"), (cut, "is of another version")]
)
def test_the_doctor_finds_a_damaged_one(
    tmp_path: Path,
    places: Paths,
    carry: Carry,
    program: bytes,
    harm: Callable[[Path], None],
    told: str,
) -> None:
    carry(program)
    install(tmp_path, places, CONFIGURED)
    harm(places.native_client)

    check = findings(tmp_path, places)["claude: native client"]

    assert told in check.text
    assert check.mend == "watchgate install claude"


def test_the_doctor_tells_of_one_that_does_not_run_here(
    tmp_path: Path, places: Paths, carry: Carry
) -> None:
    carry(b"of another machine")

    check = findings(tmp_path, places)["native client"]

    assert check.status == "warn"
    assert "hooks run the one in Python" in check.text


def test_hooks_of_a_wheel_that_carries_none_any_more_have_to_be_installed_again(
    tmp_path: Path, places: Paths, carry: Carry, program: bytes
) -> None:
    carry(program)
    install(tmp_path, places, CONFIGURED)
    carry(None)

    found = findings(tmp_path, places)["claude: hooks"]

    assert (found.status, found.mend) == ("fail", "watchgate install claude")

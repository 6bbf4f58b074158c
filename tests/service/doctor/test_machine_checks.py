"""Is what is ours private, and does a core answer?"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from watchgate.core.config.config import Config
from watchgate.link.paths import Paths, paths
from watchgate.service.doctor.machine_checks import (
    check_core,
    check_places,
    check_private,
    check_room,
)
from watchgate.service.host.core_host import hosted
from watchgate.service.hub.core_environment import Environment


@pytest.fixture
def places() -> Paths:
    return paths(os.environ)


def test_what_does_not_exist_yet_is_no_fault(tmp_path: Path) -> None:
    assert check_private("journal", tmp_path / "none", 0o600).status == "ok"


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o500])
def test_a_wrong_mode_is_a_fault_that_can_be_fixed(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "run"
    path.mkdir(mode=0o700)
    path.chmod(mode)

    before = check_private("runtime directory", path, 0o700)
    fixed = check_private("runtime directory", path, 0o700, fix=True)
    after = check_private("runtime directory", path, 0o700)

    assert [check.status for check in (before, fixed, after)] == ["fail", "ok", "ok"]
    assert f"chmod 700 {path}" in before.mend
    assert "now 0700" in fixed.text


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir(mode=0o755)
    link = tmp_path / "run"
    link.symlink_to(tmp_path / "target")

    check = check_private("runtime directory", link, 0o700, fix=True)

    assert (check.status, check.mend) == ("fail", f"rm {link}")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_somebody_elses_file_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir(mode=0o700)
    os.chown(path, 12345, -1)

    check = check_private("runtime directory", path, 0o700, fix=True)

    assert check.status == "fail"
    assert "user 12345" in check.text


@pytest.mark.parametrize(("asks", "status"), [(False, "warn"), (True, "fail")])
def test_no_core_is_a_fault_where_hooks_deny_without_one(
    places: Paths, *, asks: bool, status: str
) -> None:
    (check,) = check_core(places, [places.ingest_socket] if asks else [])

    assert check.status == status
    assert str(places.control_socket) in check.text
    assert "watchgate serve" in check.mend


def test_a_core_at_the_socket_of_the_hooks_is_found_and_no_call_said_to_be_denied(
    places: Paths, runtime_dir: Path, tmp_path: Path
) -> None:
    here = Paths(runtime_dir / "here", tmp_path / "state", places.config, places.data_dir)
    stage = Environment(
        ids=lambda: "k" * 26, home="/h", protected=(), agent_of=lambda _pid: None, scripted=True
    )
    with hosted(places, Config(), environment=stage):
        (check,) = check_core(here, [places.ingest_socket])

    assert check.status == "warn"
    assert f"answers at {places.control_socket}, where hooks ask, with profile guard" in check.text
    assert f"none runs at {here.control_socket}" in check.text
    assert check.mend.startswith(f"set WATCHGATE_RUNTIME_DIR={runtime_dir}")
    assert "denied" not in check.text


def test_no_core_at_the_socket_of_the_hooks_is_told_with_that_socket(places: Paths) -> None:
    there = places.runtime_dir / "there" / "ingest.sock"

    (check,) = check_core(places, [there])

    assert check.status == "fail"
    assert f"no core runs at {there.with_name('control.sock')}, where hooks ask" in check.text


def test_a_socket_that_nobody_serves_is_a_fault(places: Paths) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(places.control_socket))

    assert [check.status for check in check_core(places)] == ["fail"]


def test_a_disk_without_room_is_a_fault(places: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_room(places.state_dir).status == "ok"
    full = SimpleNamespace(f_bavail=0, f_bfree=0, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda _path: full)

    check = check_room(places.state_dir)

    assert (check.status, "is denied" in check.text) == ("fail", True)
    assert check.mend == f"make room on the disk of {places.state_dir}"


def test_all_places_are_looked_at(places: Paths) -> None:
    names = [check.check for check in check_places(places, fix=False)]

    assert names == [
        "runtime directory",
        "state directory",
        "journal",
        "ingest socket",
        "control socket",
        "disk",
        "core",
    ]


def test_a_place_that_cannot_be_looked_at_is_told(tmp_path: Path) -> None:
    state_dir = tmp_path / ("long" * 100) / "state"
    told = check_room(state_dir)
    assert (told.status, told.mend) == ("fail", "give the way to it back to you")
    assert told.text.startswith(f"{state_dir}, where the journal lies, cannot be looked at: ")

"""File systems that may not answer are known by the system's table, and none of them is asked."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.subject import NOBODY, Links, Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.service.policies.link_finder import CACHE_S, LinkFinder, MountTable, silent_mounts
from watchgate.service.policies.policy_files import shipped

LOCAL = "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
SHARE = r"30 22 0:40 / /mnt/my\040share rw shared:1 master:2 - nfs4 host:/x rw" + "\n"
SSH = "31 22 0:41 / /home/me/far rw - fuse.sshfs me@host: rw\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_table_names_the_mounts_of_networks_and_of_other_programs(tmp_path: Path) -> None:
    table = write(tmp_path / "mountinfo", LOCAL + SHARE + SSH)
    assert MountTable(table)() == ("/mnt/my share", "/home/me/far")


def test_a_local_disk_is_none_of_them(tmp_path: Path) -> None:
    assert MountTable(write(tmp_path / "mountinfo", LOCAL))() == ()


def test_without_a_table_the_usual_places_for_shares_are_not_asked(tmp_path: Path) -> None:
    assert "/Volumes" in MountTable(tmp_path / "none")()


def test_the_table_is_read_again_after_a_moment(tmp_path: Path) -> None:
    now = [5.0]
    table = write(tmp_path / "mountinfo", LOCAL)
    mounts = MountTable(table, lambda: now[0])
    assert mounts() == ()
    write(table, SHARE)
    assert mounts() == ()
    now[0] += CACHE_S
    assert mounts() == ("/mnt/my share",)


@pytest.mark.parametrize(
    ("place", "holder"),
    [
        ("/mnt/a", "/mnt/a"),
        ("/mnt/a/x", "/mnt/a"),
        ("/mnt/ab", ""),
        ("/home", ""),
        ("/home/me", ""),
        ("/home/me/x", ""),
        ("/home/you", "/home"),
        ("/home/me/work/far/x", "/home/me/work/far"),
        ("/etc/x", ""),
    ],
)
def test_only_the_file_systems_that_the_session_is_on_are_asked(place: str, holder: str) -> None:
    mounts = ("/", "/home", "/home/me", "/home/me/work/far", "/mnt/a")
    assert silent_mounts(mounts, "/home/me/work", "/home/me").holder(place) == holder


class Disk:
    """A real folder of a session, beside a share that must not be asked."""

    def __init__(self, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.work, self.share = top / "home", top / "home/work", top / "share"
        for folder in (self.work, self.share, top / "home/.ssh"):
            folder.mkdir(parents=True)
        (self.home / ".ssh/id_rsa").write_text("key")
        (self.share / "link").symlink_to(self.home / ".ssh/id_rsa")
        self.asked: list[str] = []
        for name in ("lstat", "readlink", "listdir"):
            monkeypatch.setattr(os, name, self._noting(getattr(os, name)))

    def _noting(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def asks(path: Any, *more: Any, **named: Any) -> Any:
            self.asked.append(str(path))
            return real(path, *more, **named)

        return asks

    def links(self, command: str) -> Links:
        finder = LinkFinder(str(self.home), lambda: (str(self.share),))
        return finder(Tool("t", "t", "shell", {"command": command}, "h"), str(self.work))

    def judge(self, command: str) -> Assessment:
        tool = Tool("t", "t", "shell", {"command": command}, "h")
        found = self.links(command)
        cwd, home = str(self.work), str(self.home)
        return assess(Subject(tool=tool, cwd=cwd, home=home, links=found), shipped(), 0)

    def asked_the_share(self) -> bool:
        return any(path.startswith(str(self.share)) for path in self.asked)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "command",
    [
        "ls {share}",
        "ls {share}/link",
        "ls {share}/l*",
        "ls {top}/*",
        "ls {top}/s*/link",
        "ls ../../share/link",
        "cd ../../share && ls link",
        "ls near/link",
        "ls nearer/link",
    ],
)
def test_a_share_that_is_named_in_any_way_is_not_asked_and_its_paths_are_not_known(
    disk: Disk, command: str
) -> None:
    (disk.work / "near").symlink_to(disk.share)
    (disk.work / "nearer").symlink_to("near")
    shown = command.format(share=disk.share, top=disk.share.parent)
    assert (str(disk.share), NOBODY) in disk.links(shown)
    assert not disk.asked_the_share()
    found = disk.judge(shown)
    assert found.decision == "ask"
    said = next(finding for finding in found.findings if finding.rule == "call.unseen")
    assert str(disk.share) in said.reason


def test_what_else_the_call_names_is_looked_at_all_the_same(disk: Disk) -> None:
    (disk.work / "key").symlink_to("../.ssh/id_rsa")
    found = disk.links(f"cat {disk.share}/link key")
    assert (f"{disk.work}/key", f"{disk.home}/.ssh/id_rsa") in found
    assert (str(disk.share), NOBODY) in found
    assert not disk.asked_the_share()


def test_a_call_that_names_no_share_is_judged_as_before(disk: Disk) -> None:
    (disk.work / "a").write_text("a")
    assert disk.links("cat a") == ()
    assert disk.judge("cat a").decision == "allow"
    assert str(disk.work / "a") in disk.asked

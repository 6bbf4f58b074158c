"""Files are found when they appear, and folders are listed only when they have changed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from watchgate.agents.usage import UsagePlace
from watchgate.service.usage import file_scan
from watchgate.service.usage.file_scan import FileScan


def a_scan(root: Path) -> FileScan:
    return FileScan([UsagePlace(agent="a", root=str(root), pattern="**/*.jsonl")])


def make(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return str(path)


def looked(found: FileScan) -> tuple[set[str], set[str]]:
    new, gone = found.look()
    return {each.path for each in new}, set(gone)


def test_new_and_gone(tmp_path: Path) -> None:
    found = a_scan(tmp_path)
    assert looked(found) == (set(), set())
    one, two = make(tmp_path / "one.jsonl"), make(tmp_path / "x/y/two.jsonl")
    assert looked(found) == ({one, two}, set())
    assert looked(found) == (set(), set())
    Path(one).unlink()
    three = make(tmp_path / "x/y/three.jsonl")
    assert looked(found) == ({three}, {one})
    shutil.rmtree(tmp_path / "x")
    assert looked(found) == (set(), {two, three})
    assert looked(found) == (set(), set())
    assert looked(found) == (set(), set())
    assert two == make(tmp_path / "x/y/two.jsonl")
    assert looked(found) == ({two}, set())


def test_a_root_may_go_and_come(tmp_path: Path) -> None:
    root = tmp_path / "root"
    found = a_scan(root)
    assert looked(found) == (set(), set())
    one = make(root / "x/one.jsonl")
    assert looked(found) == ({one}, set())
    shutil.rmtree(root)
    assert looked(found) == (set(), {one})
    make(root / "x/one.jsonl")
    assert looked(found) == ({one}, set())


def test_a_folder_that_rests_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "x/one.jsonl")
    found = a_scan(tmp_path)
    listed: list[str] = []
    listing = os.scandir

    def told(path: str) -> object:
        listed.append(path)
        return listing(path)

    monkeypatch.setattr(os, "scandir", told)
    for _ in range(4):
        looked(found)
    # Once more than it changed: within one step of the disk's clock more may have come.
    assert listed.count(str(tmp_path)) == listed.count(str(tmp_path / "x")) == 2


def test_a_file_that_came_within_one_step_of_the_clock_is_found(tmp_path: Path) -> None:
    found = a_scan(tmp_path)
    one = make(tmp_path / "one.jsonl")
    at = tmp_path.stat().st_mtime_ns
    assert looked(found) == ({one}, set())
    two = make(tmp_path / "two.jsonl")
    os.utime(tmp_path, ns=(at, at))
    assert looked(found) == ({two}, set())


def test_of_many_folders_each_has_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_scan, "HOT", 2)
    monkeypatch.setattr(file_scan, "ROUND", 3)
    for number in range(9):
        make(tmp_path / f"{number}/a.jsonl")
    found = a_scan(tmp_path)
    looked(found)
    made = {make(tmp_path / f"{number}/b.jsonl") for number in range(9)}
    seen: set[str] = set()
    for _ in range(6):
        seen |= looked(found)[0]
    assert seen == made


def test_all_folders_can_be_looked_at_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_scan, "HOT", 1)
    monkeypatch.setattr(file_scan, "ROUND", 1)
    for number in range(9):
        make(tmp_path / f"{number}/a.jsonl")
    found = a_scan(tmp_path)
    looked(found)
    made = {make(tmp_path / f"{number}/b.jsonl") for number in range(9)}
    new, _gone = found.look(everywhere=True)
    assert {each.path for each in new} == made


def test_two_homes_that_are_one_are_looked_at_once(tmp_path: Path) -> None:
    one = make(tmp_path / "real/one.jsonl")
    (tmp_path / "link").symlink_to("real")
    roots = (tmp_path / "link", tmp_path / "real")
    found = FileScan([UsagePlace(agent="a", root=str(root), pattern="*.jsonl") for root in roots])
    assert [each.path for each in found.look()[0]] == [one]

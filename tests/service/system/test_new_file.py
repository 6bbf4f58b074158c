"""A new file is there whole, for its owner alone, or everything is as it was."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from watchgate.service.system.new_file import NewFileError, new_file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    return path


def names(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


def write(path: Path, then: Callable[[], object], *, force: bool = False) -> None:
    with new_file(path, force=force) as file:
        file.write(b"new")
        then()


def interrupt() -> None:
    raise KeyboardInterrupt


def test_it_is_there_when_all_of_it_is_written_and_only_its_owner_reads_it(folder: Path) -> None:
    path = folder / "a"
    with new_file(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names(folder) == ["a"]


def test_what_is_there_stays_without_force(folder: Path) -> None:
    path = folder / "a"
    path.write_text("old")
    with pytest.raises(NewFileError, match="--force takes its place"):
        write(path, pytest.fail)
    assert path.read_text() == "old"
    write(path, path.exists, force=True)
    assert path.read_bytes() == b"new"


def test_what_came_there_meanwhile_stays_too(folder: Path) -> None:
    path = folder / "a"
    with pytest.raises(NewFileError, match="is there already"):
        write(path, lambda: path.write_text("meanwhile"))
    assert path.read_text() == "meanwhile"
    assert names(folder) == ["a"]


def test_whatever_goes_wrong_leaves_all_as_it_was(folder: Path) -> None:
    path = folder / "a"
    with pytest.raises(KeyboardInterrupt):
        write(path, interrupt)
    assert names(folder) == []
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write(path, interrupt, force=True)
    assert names(folder) == ["a"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("force", [False, True])
def test_only_a_plain_file_is_ever_replaced(folder: Path, *, force: bool) -> None:
    pipe, gone = folder / "pipe", folder / "gone"
    os.mkfifo(pipe)
    gone.symlink_to(folder / "nowhere")
    for path in (pipe, gone, folder):
        with pytest.raises(NewFileError, match="is not a plain file"):
            write(path, pytest.fail, force=force)


def test_a_folder_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(NewFileError, match=r"cannot write .*/none/a: No such file"):
        write(folder / "none" / "a", pytest.fail)

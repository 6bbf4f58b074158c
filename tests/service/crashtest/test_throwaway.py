"""The place of a run, which is gone whatever happens in it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from watchgate.service.crashtest.throwaway import ThrowawayError, throwaway


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def test_it_has_a_home_of_its_own_and_is_removed_with_all_that_is_in_it(scratch: Path) -> None:
    with throwaway() as place:
        (place.home / "deep" / "er").mkdir(parents=True)
        (place.work / "file").write_text("x")
        assert place.top.parent == scratch.resolve()

    assert list(scratch.iterdir()) == []


def test_a_run_that_is_interrupted_leaves_nothing(scratch: Path) -> None:
    with pytest.raises(KeyboardInterrupt), throwaway():
        raise KeyboardInterrupt

    assert list(scratch.iterdir()) == []


def test_a_place_that_cannot_be_made_is_told(scratch: Path) -> None:
    scratch.rmdir()
    with pytest.raises(ThrowawayError, match="no throw-away folder can be made"), throwaway():
        pass

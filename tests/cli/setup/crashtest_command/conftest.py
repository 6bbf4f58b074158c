from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import standin_agent

Standin = Callable[[str], Path]


@pytest.fixture
def scratch(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where throw-away folders are made in this test."""
    path = short_path / "t"
    path.mkdir()
    monkeypatch.setenv("TMPDIR", str(path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return path


@pytest.fixture
def standin(tmp_path: Path) -> Standin:
    """A stand-in for Claude Code with this temper."""

    def make(temper: str) -> Path:
        program = tmp_path / "claude"
        source = Path(standin_agent.__file__).read_text()
        # `-I` as in a program of its own: nothing of this checkout is behind it.
        program.write_text(f"#!{sys.executable} -I\n{source}\n\nrun({temper!r})\n")
        program.chmod(0o755)
        return program

    return make

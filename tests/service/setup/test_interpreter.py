"""Which Python the hooks run."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from watchgate.service.setup.hook_client import (
    NoInterpreterError,
    base_interpreter,
    probe_interpreter,
)

BASE = Path(getattr(sys, "_base_executable", sys.executable))


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_virtual_environments_python_is_not_taken(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", symlinks=True)

    assert probe_interpreter(tmp_path / "env" / "bin" / "python") is None


def test_a_shim_is_followed_to_what_it_starts(tmp_path: Path) -> None:
    shim = script(tmp_path / "python3", f'exec {BASE} "$@"')

    found = probe_interpreter(shim)

    assert found is not None
    assert found.resolve() == BASE.resolve()


def test_a_link_that_the_system_keeps_is_kept(tmp_path: Path) -> None:
    link = tmp_path / "python3"
    link.symlink_to(BASE)

    assert probe_interpreter(link) in (link, BASE.resolve())


def test_the_first_fit_candidate_is_taken(tmp_path: Path) -> None:
    old = script(tmp_path / "old", """echo '["/usr/bin/python3", [3, 7], true]'""")
    broken = script(tmp_path / "broken", "exit 1")

    assert base_interpreter([tmp_path / "none", broken, old, BASE]).resolve() == BASE.resolve()


def test_none_is_an_error_that_names_what_was_tried(tmp_path: Path) -> None:
    with pytest.raises(NoInterpreterError, match="none"):
        base_interpreter([tmp_path / "none"])


def test_what_is_chosen_here_runs_the_client_flags() -> None:
    done = subprocess.run([base_interpreter(), "-I", "-S", "-c", "import _socket, sys, time"])

    assert done.returncode == 0

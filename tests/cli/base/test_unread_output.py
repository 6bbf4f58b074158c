"""Whoever reads what a command prints may leave (`| head`), which stops nothing halfway."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Cli
from watchgate.agents.registry import ADAPTERS
from watchgate.cli.base.printing import Exit
from watchgate.service.setup.agent_files import hook_path


def user_file(name: str) -> Path:
    return hook_path(ADAPTERS[name], "user", os.environ, Path("/"))


def run_with_no_reader(*words: str, of_complaints: bool = False) -> tuple[int, bytes]:
    """Runs a command whose reader has left before it begins."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "watchgate", *words]
    complaints = writer if of_complaints else subprocess.PIPE
    done = subprocess.run(command, stdout=writer, stderr=complaints, check=False)
    os.close(writer)
    return done.returncode, done.stderr or b""


def test_a_reader_that_left_is_no_fault_and_stops_nothing(tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert run_with_no_reader("install", "claude", "gemini") == (Exit.DONE, b"")
    assert user_file("claude").exists()
    assert user_file("gemini").exists()
    assert run_with_no_reader("uninstall", "--all", "--dry-run") == (Exit.DONE, b"")
    assert run_with_no_reader("uninstall", "--all") == (Exit.DONE, b"")
    assert sorted(tmp_path.rglob("*")) == before


def test_one_refusal_that_nobody_reads_stops_nothing_and_is_no_success(cli: Cli) -> None:
    cli("install", "claude", "gemini")
    changed = user_file("claude")
    changed.write_text(changed.read_text().replace("/bin/sh -c", "timeout 9 /bin/sh -c", 1))
    code, _ = run_with_no_reader("uninstall", "--all", of_complaints=True)
    assert (code, user_file("gemini").exists()) == (Exit.REFUSED, False)

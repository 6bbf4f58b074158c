from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Core
from watchgate.cli.base.printing import Exit


@pytest.mark.parametrize("profile", ["watch", "strict"])
def test_serve_says_in_one_line_that_it_is_ready(profile: str, runtime_dir: Path) -> None:
    command = [sys.executable, "-m", "watchgate", "serve", "--profile", profile]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert ready["ready"] is True
        assert (ready["profile"], ready["pid"]) == (profile, process.pid)
        assert ready["ingest"] == str(runtime_dir / "ingest.sock")
        process.terminate()
        assert process.wait(timeout=20) == 0
        assert process.stdout.read() == b""


def test_a_second_core_is_refused(cli: Cli, core: Core) -> None:
    said = cli("serve")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "already running" in said.err


def test_a_core_needs_a_private_directory(cli: Cli, runtime_dir: Path) -> None:
    runtime_dir.chmod(0o755)
    said = cli("serve")
    assert said.code == Exit.REFUSED
    assert "chmod 700" in said.err


def test_a_journal_that_cannot_be_opened_is_refused_by_name(cli: Cli) -> None:
    journal = Path(os.environ["WATCHGATE_STATE_DIR"]) / "journal.db"
    journal.parent.mkdir(parents=True, mode=0o700)
    journal.write_bytes(b"no database at all" * 100)
    said = cli("serve")
    assert said.code == Exit.REFUSED
    assert str(journal) in said.err


def test_another_profile_is_a_usage_error(cli: Cli) -> None:
    said = cli("serve", "--profile", "lax")
    assert said.code == Exit.USAGE
    assert "guard" in said.err

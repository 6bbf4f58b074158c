"""The first command of all, run as a program where nothing else of ours is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.cli.lookback.test_lookback import files
from tests.service.usage import disk


def test_it_needs_no_core_and_leaves_no_trace(tmp_path: Path) -> None:
    home = tmp_path / "home"
    disk.every_agent(home)
    before = files(tmp_path)
    ours = ("WATCHGATE_", "XDG_", "CLAUDE", "CODEX_", "GEMINI_", "QWEN_", "OPENCODE_", "COPILOT_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    run = [sys.executable, "-m", "watchgate", "lookback", "--days", "36500"]
    said = subprocess.run(
        run,
        env={**env, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=home,
    )
    assert (said.returncode, said.stderr) == (0, "")
    assert "7 tool calls in 5 sessions" in said.stdout
    assert files(tmp_path) == before

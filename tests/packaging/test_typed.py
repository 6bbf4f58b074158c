"""The installed package is typed: sound use passes a strict checker, unsound use does not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.packaging.conftest import Installed

SOUND = """
import os
from pathlib import Path
from typing import Any

from watchgate.client_api import Answer, AsyncGate, Denied, Gate
from watchgate.core.model.events import Kind
from watchgate.link.paths import paths

runtime: Path = paths(os.environ).runtime_dir


def ask(gate: Gate, command: str) -> str:
    answer: Answer = gate.ask("Bash", {"command": command}, tool_class="shell")
    kind: Kind = "message"
    told: bool = gate.report(kind, text="asked")
    return answer.decision if told and answer.may_run else answer.reason


def run(command: str) -> dict[str, Any]:
    try:
        with Gate("etl") as gate, gate.tool_call("Bash", {"command": command}) as call:
            call.returned = command
            return call.input
    except Denied as denied:
        return denied.answer.input


async def later() -> bool:
    async with AsyncGate("etl") as gate:
        return (await gate.ask("Bash", {"command": "ls"})).may_run
"""
UNSOUND = """
from watchgate.client_api import Answer, AsyncGate, Gate
from watchgate.link.paths import paths

paths(7)  # arg-type
Gate("etl").ask("Bash", {"command": "ls"}, tool_class="bash")  # arg-type
Gate("etl").report("massage", text="hello")  # arg-type
Gate("etl").ask("Bash", {}).may_runn  # attr-defined
Answer(decision="maybe", input={})  # arg-type
number: int = Gate("etl").ask("Bash", {}).reason  # assignment


async def forgotten(gate: AsyncGate) -> None:
    print(gate.ask("Bash", {}).may_run)  # attr-defined
"""


def test_sound_use_passes_a_strict_checker_and_each_unsound_use_fails(
    installed: Installed, tmp_path: Path
) -> None:
    (tmp_path / "sound.py").write_text(SOUND)
    (tmp_path / "unsound.py").write_text(UNSOUND)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file="]
    environment = f"--python-executable={installed.bin / 'python'}"
    done = subprocess.run(
        [*command, environment, f"--cache-dir={os.devnull}", "sound.py", "unsound.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    expected = [
        ("unsound.py", str(number), line.rpartition("# ")[2])
        for number, line in enumerate(UNSOUND.splitlines(), 1)
        if "  # " in line
    ]
    found = re.findall(r"^(\w+\.py):(\d+): error: .*\[([a-z-]+)\]$", done.stdout, re.MULTILINE)
    assert found == expected, done.stdout + done.stderr

"""The workflow in examples/github-actions does what it says: its own steps are run here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "github-actions"
STEP = re.compile(
    r"^      - name: (?P<name>.*)\n(?:        (?!run:).*\n)*        run: "
    r"(?:\|\n(?P<block>(?:          .*\n|\n)+)|(?P<line>.*)\n)",
    re.MULTILINE,
)
CALLS = [
    ("Bash", {"command": "pytest -q -k login"}),
    ("Bash", {"command": "git push --force"}),
    ("Edit", {"file_path": "src/app.py", "old_string": "a", "new_string": "b"}),
    ("Write", {"file_path": ".github/workflows/agent.yml", "content": "x"}),
]
# Asks the gate as its hooks would, and says what it was told.
CLAUDE = """#!{python}
import json, subprocess, sys
for number, (tool, args) in enumerate({calls!r}):
    payload = dict(hook_event_name="PreToolUse", session_id="ci", cwd="{cwd}", tool_name=tool,
                   tool_input=args, tool_use_id=str(number), permission_mode="default")
    said = subprocess.run([sys.executable, "-m", "watchgate", "hook", "claude", "--lane", "gate"],
                          input=json.dumps(payload), capture_output=True, text=True)
    print(json.dumps([tool, said.returncode, said.stdout]))
"""


def steps() -> dict[str, str]:
    """The shell text of each named step."""
    text = (EXAMPLE / "agent.yml").read_text()
    found = {}
    for match in STEP.finditer(text):
        block = match["block"]
        found[match["name"]] = (
            re.sub(r"^ {10}", "", block, flags=re.MULTILINE) if block else match["line"]
        )
    return found


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout with the files where the comment says they belong, and a stand-in for claude."""
    root = tmp_path / "checkout"
    place = root / ".github" / "watchgate"
    place.mkdir(parents=True)
    for name in ("config.toml", "policy.toml"):
        shutil.copy(EXAMPLE / name, place / name)
        (place / name).chmod(0o600)
    programs = tmp_path / "bin"
    programs.mkdir()
    stand_in = CLAUDE.format(python=sys.executable, calls=CALLS, cwd=root)
    (programs / "claude").write_text(stand_in)
    (programs / "watchgate").write_text(f'#!/bin/sh\nexec {sys.executable} -m watchgate "$@"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("WATCHGATE_CONFIG", str(place / "config.toml"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(root / "summary.md"))
    monkeypatch.setenv("TASK", "tidy up")
    monkeypatch.chdir(root)
    yield root
    subprocess.run([programs / "watchgate", "stop"], capture_output=True)


def run(step: str) -> str:
    # As GitHub runs them: a failed command ends the step. What it leaves behind goes on.
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, f"{step}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_policy_decides_and_the_journal_is_kept(workspace: Path) -> None:
    named = steps()
    assert list(named) == ["Install", "Start the gate", "Run the agent", "Keep what happened"]
    # The doctor plays a call through an installed claude, of which there is none here.
    run(re.sub("^watchgate doctor .*$", "", named["Start the gate"], flags=re.MULTILINE))

    told = [json.loads(line) for line in run(named["Run the agent"]).splitlines()]
    decisions = [json.loads(out)["hookSpecificOutput"]["permissionDecision"] for _, _, out in told]
    assert decisions == ["allow", "deny", "allow", "deny"], told[2]

    said = run(named["Keep what happened"])
    kept = workspace / "watchgate-journal"
    assert "unbroken" in said
    records = [json.loads(line) for line in (kept / "records.jsonl").read_text().splitlines()]
    words = [
        r["data"]["word"]
        for r in records
        if r["kind"] in ("tool.pre", "approval.decided") and "word" in r["data"]
    ]
    assert words == ["allowed-by-rule", "denied-no-approver"] * 2
    assert "git push --force" in (kept / "report.html").read_text()
    assert re.fullmatch(r"\d+:[0-9a-f]{64}\s*", (kept / "anchor.txt").read_text())
    assert "git push --force" in (workspace / "summary.md").read_text()

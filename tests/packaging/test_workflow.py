"""The workflow that checks every change tries what the package promises to run on."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "check.yml"
EXAMPLE = ROOT / "examples" / "github-actions" / "agent.yml"
PYTHON = "Programming Language :: Python :: "


def test_every_python_that_the_package_names_is_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [name.removeprefix(PYTHON) for name in project["classifiers"] if PYTHON in name]
    pythons = sorted((name for name in named if "." in name), key=lambda name: int(name[2:]))
    found = re.search(r"^        python: \[(.*)\]$", WORKFLOW.read_text(), re.MULTILINE)
    assert found is not None
    assert re.findall(r'"([\d.]+)"', found[1]) == pythons != []
    assert project["requires-python"] == f">={pythons[0]}"


def test_it_runs_targets_that_exist() -> None:
    targets = re.findall(r"^        run: make (\S+)$", WORKFLOW.read_text(), re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert targets == ["check", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_the_example_installs_from_a_checkout_as_the_readme_does() -> None:
    place = re.search(r"^          path: (\S+)$", EXAMPLE.read_text(), re.MULTILINE)
    assert place is not None
    command = "uv tool install ."
    assert f"`{command}`" in (ROOT / "README.md").read_text()
    assert f"          {command}/{place[1]}\n" in EXAMPLE.read_text()


def test_actions_are_pinned_by_their_major_version_and_may_only_read() -> None:
    for workflow in (WORKFLOW, EXAMPLE):
        text = workflow.read_text()
        actions = re.findall(r"uses: (\S+)", text)
        assert actions != []
        assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", action) for action in actions)
        assert "permissions:\n  contents: read\n\n" in text

"""Codex's own record of which hooks it was told to trust, read from its files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.service.desk import Desk
from tests.service.watch.coverage.test_processes import process
from watchgate.agents.registry import ADAPTERS
from watchgate.service.setup.codex_trust import codex_trusts
from watchgate.service.system.system_clock import SystemClock
from watchgate.service.watch.coverage.coverage_watch import CoverageWatch

OURS = {"type": "command", "command": "/bin/sh -c 'test' watchgate-hook python3"}
THEIRS = {"type": "command", "command": "theirs"}
HOOKS = {
    "PreToolUse": [{"hooks": [THEIRS]}, {"matcher": "Bash", "hooks": [THEIRS, OURS]}],
    "SessionStart": [{"hooks": [OURS]}],
}
PLACES = ("pre_tool_use:1:1", "session_start:0:0")


def written(home: Path, *places: str, more: str = "") -> Path:
    """Codex's two files, in which the hooks at these places are trusted."""
    home.mkdir(parents=True, exist_ok=True)
    hooks = home / "hooks.json"
    hooks.write_text(json.dumps({"hooks": HOOKS}))
    entries = [f'[hooks.state."{hooks}:{each}"]\ntrusted_hash = "sha256:1"\n' for each in places]
    (home / "config.toml").write_text('model = "m"\n' + "".join(entries) + more)
    return hooks


def test_hooks_are_trusted_once_each_of_ours_is(tmp_path: Path) -> None:
    assert codex_trusts(written(tmp_path, *PLACES))


@pytest.mark.parametrize("places", [(), PLACES[:1], ("pre_tool_use:0:0", "session_start:0:0")])
def test_one_of_ours_that_nobody_looked_at_is_skipped_by_codex(
    tmp_path: Path, places: tuple[str, ...]
) -> None:
    assert not codex_trusts(written(tmp_path, *places))


def test_a_hook_that_is_switched_off_in_codex_does_not_run(tmp_path: Path) -> None:
    assert not codex_trusts(written(tmp_path, *PLACES, more="enabled = false\n"))


def test_hooks_that_were_changed_after_the_trust_was_given_are_looked_at_anew(
    tmp_path: Path,
) -> None:
    hooks = written(tmp_path, *PLACES)
    config = (tmp_path / "config.toml").stat()
    os.utime(hooks, (config.st_atime, config.st_mtime + 5))
    assert not codex_trusts(hooks)


@pytest.mark.parametrize("content", ["", "[hooks", "hooks = 3", '[hooks]\nstate = "x"', "\udcff"])
def test_a_file_that_says_nothing_of_trust_gives_none(tmp_path: Path, content: str) -> None:
    hooks = written(tmp_path, *PLACES)
    (tmp_path / "config.toml").write_text(content, errors="surrogateescape")
    assert not codex_trusts(hooks)
    (tmp_path / "config.toml").unlink()
    assert not codex_trusts(hooks)


async def test_a_trusted_codex_that_idles_at_its_prompt_is_not_listed(tmp_path: Path) -> None:
    desk = Desk()
    (tmp_path / "proc").mkdir()
    process(tmp_path / "proc", 7, "codex", start=0)
    rounds = CoverageWatch(
        desk.hub, SystemClock(), ADAPTERS, {}, home=tmp_path, proc=tmp_path / "proc"
    )
    hooks = written(tmp_path / ".codex", *PLACES)
    os.utime(hooks, (1, 1))
    await rounds.look()
    assert desk.kinds() == []
    written(tmp_path / ".codex")
    os.utime(hooks, (1, 1))
    await rounds.look()
    assert desk.kinds() == ["policy.ungated"]
    written(tmp_path / ".codex", *PLACES)
    os.utime(hooks, (1, 1))
    await rounds.look()
    assert desk.last("policy.inferred") == {
        "state": "gone",
        "why": "its hooks are installed and trusted now",
    }

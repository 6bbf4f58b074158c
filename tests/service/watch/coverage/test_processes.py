"""Agents are found in a `/proc` of the test's own making."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from watchgate.agents.base import Setup
from watchgate.agents.registry import ADAPTERS
from watchgate.service.watch.coverage.processes import (
    EVERY,
    InstalledHooks,
    ProcessScan,
    read_installed_hooks,
)


def process(
    proc: Path,
    pid: int,
    *words: str,
    start: int = 100,
    cwd: str = "/home/u/app",
    parent: int = 0,
) -> None:
    directory = proc / str(pid)
    directory.mkdir(exist_ok=True)
    (directory / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in words))
    fields = ["0"] * 30
    fields[1], fields[19] = str(parent), str(start)
    (directory / "stat").write_text(f"{pid} (a ) b) {' '.join(['S', *fields[1:]])}\n")
    link = directory / "cwd"
    link.unlink(missing_ok=True)
    link.symlink_to(cwd)


def test_agents_are_told_from_everything_else(tmp_path: Path) -> None:
    process(tmp_path, 7, "/usr/bin/claude", "--bare", start=55)
    process(tmp_path, 8, "node", "/opt/bin/codex.js", "exec")
    process(tmp_path, 9, "vim", "claude")
    process(tmp_path, 11, "claude", "--settings", '{"disableAllHooks": true}')
    (tmp_path / "10").mkdir()
    (tmp_path / "self").mkdir()
    found = ProcessScan(ADAPTERS, tmp_path).look()
    assert [(each.agent, each.pid, each.start, each.hooks_off) for each in found] == [
        ("claude", 7, 55, "--bare"),
        ("codex", 8, 100, ""),
        ("claude", 11, 100, "disableAllHooks"),
    ]
    assert found[0].cwd == "/home/u/app"


@pytest.mark.parametrize(
    "words",
    [
        ("claude", "mcp", "serve"),
        ("node", "--max-old-space-size=4096", "/opt/claude.js", "--version"),
        ("codex", "mcp-server"),
        ("/usr/share/code/code", "--type=zygote"),
        ("/usr/share/code/code", "/home/u/app"),
        ("acp",),
    ],
)
def test_a_program_of_an_agent_that_runs_no_agent_is_none(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    process(tmp_path, 7, *words)
    assert ProcessScan(ADAPTERS, tmp_path).look() == []


def test_what_our_own_proxy_started_is_gated_there(tmp_path: Path) -> None:
    process(tmp_path, 7, "/v/bin/python", "/v/bin/watchgate", "acp", "--", "gemini")
    process(tmp_path, 8, "node", "/opt/gemini", "--acp", parent=7)
    process(tmp_path, 9, "node", "/opt/gemini", "--acp", parent=8)
    process(tmp_path, 11, "node", "/opt/gemini", parent=10)
    assert [each.pid for each in ProcessScan(ADAPTERS, tmp_path).look()] == [11]


def test_what_is_no_agent_is_looked_at_again_only_now_and_then(tmp_path: Path) -> None:
    process(tmp_path, 9, "bash")
    processes = ProcessScan(ADAPTERS, tmp_path)
    assert processes.look() == []
    process(tmp_path, 9, "claude")
    looks = [len(processes.look()) for _ in range(EVERY - 1)]
    assert looks == [0] * (EVERY - 2) + [1]


def test_processes_of_others_are_not_ours_to_tell_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process(tmp_path, 7, "claude")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert ProcessScan(ADAPTERS, tmp_path).look() == []


def test_a_system_without_proc_tells_of_none(tmp_path: Path) -> None:
    assert ProcessScan(ADAPTERS, tmp_path / "none").look() == []


def test_when_our_hooks_were_installed_and_whether_all_are_switched_off(tmp_path: Path) -> None:
    setup = Setup(form="groups", user="~/.claude/settings.json", variable="CLAUDE_CONFIG_DIR")
    assert read_installed_hooks(setup, tmp_path, {}) == InstalledHooks(None)
    assert read_installed_hooks(None, tmp_path, {}) == InstalledHooks(None)
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"hooks": {}}')
    assert read_installed_hooks(setup, tmp_path, {}) == InstalledHooks(None)
    file.write_text('{"disableAllHooks": true, "hooks": "watchgate"}')
    os.utime(file, (50, 50))
    assert read_installed_hooks(setup, tmp_path, {}) == InstalledHooks(50.0, disabled=True)
    elsewhere = {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}
    assert read_installed_hooks(setup, tmp_path, elsewhere) == InstalledHooks(None)


def test_newcomers_are_told_soon_and_looked_at_twice(tmp_path: Path) -> None:
    process(tmp_path, 7, "claude")
    process(tmp_path, 8, "bash")
    processes = ProcessScan(ADAPTERS, tmp_path)
    assert [each.pid for each in processes.newcomers()] == [7]
    process(tmp_path, 8, "gemini")  # as after an exec
    process(tmp_path, 9, "vim")
    assert [each.pid for each in processes.newcomers() if each.pid != 7] == [8]
    process(tmp_path, 9, "codex")
    assert [each.pid for each in processes.newcomers()] == [9]
    assert processes.newcomers() == []

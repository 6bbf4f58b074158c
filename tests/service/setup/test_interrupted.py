"""An uninstallation that Ctrl-C ends between any two steps, and that is then done again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from watchgate.agents.registry import ADAPTERS
from watchgate.link.paths import paths
from watchgate.service.setup import hook_client
from watchgate.service.setup.installer import HookSettings, Installer

GUARD = HookSettings(profile="guard", client_deadline_s=3660, status_line="set")
PYTHON = Path(sys.executable)
STEPS = ("fsync", "replace", "unlink", "rmdir")


def interrupted_at(step: int, monkeypatch: pytest.MonkeyPatch, done: Callable[[], None]) -> bool:
    """Do it, and press Ctrl-C just before the step of this number; tell whether it came so far."""
    left = count(step, -1)

    def with_interrupt(real: Callable[..., Any]) -> Callable[..., Any]:
        def told(*args: Any, **named: Any) -> Any:
            if next(left) == 0:
                raise KeyboardInterrupt
            return real(*args, **named)

        return told

    with monkeypatch.context() as patched:
        for name in STEPS:
            patched.setattr(os, name, with_interrupt(getattr(os, name)))
        try:
            done()
        except KeyboardInterrupt:
            return True
    return False


@pytest.mark.parametrize(("name", "file"), [("claude", ".claude/settings.json"), ("opencode", "")])
def test_done_again_it_leaves_the_home_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str
) -> None:
    monkeypatch.setattr(hook_client, "renew_bytecode", lambda *_: True)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    home, installer = Path.home(), Installer(paths(os.environ), os.environ, tmp_path)
    agent = ADAPTERS[name]
    if file:
        (home / file).parent.mkdir(parents=True)
        (home / file).write_text('{"a": 1}\n')
    before = {path: path.is_file() and path.read_bytes() for path in home.rglob("*")}

    def uninstall() -> None:
        installer.uninstall(installer.plan_uninstall(agent, "user", PYTHON))

    for step in count():
        installer.install(installer.plan_install(agent, "user", GUARD, PYTHON), PYTHON)
        reached = interrupted_at(step, monkeypatch, uninstall)
        uninstall()
        left = {path: path.is_file() and path.read_bytes() for path in home.rglob("*")}
        assert left == before, f"step {step}"
        if not reached:
            assert step
            return

from __future__ import annotations

from pathlib import Path

import pytest

from watchgate.service.system.terminal_panes import show_pane


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins for the terminals' own commands, and the file that says how they were called."""
    log = tmp_path / "asked"
    for name in ("tmux", "zellij", "kitty", "wezterm"):
        command = tmp_path / name
        command.write_text(f'#!/bin/sh\necho {name} "$@" >> {log}\ntest "$4" != gone\n')
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return log


def _asked(log: Path) -> str:
    return log.read_text().strip()


@pytest.mark.parametrize(
    ("env", "command"),
    [
        ({"TMUX_PANE": "%3"}, "tmux switch-client -t %3"),
        ({"ZELLIJ_PANE_ID": "7"}, "zellij action focus-pane-with-id 7"),
        ({"KITTY_WINDOW_ID": "2"}, "kitty @ focus-window --match id:2"),
        ({"WEZTERM_PANE": "5"}, "wezterm cli activate-pane --pane-id 5"),
    ],
)
async def test_the_pane_is_shown_by_its_terminals_own_command(
    asked: Path, env: dict[str, str], command: str
) -> None:
    said = await show_pane(env)
    assert _asked(asked) == command
    assert said == f"{command.split(maxsplit=1)[0]} shows pane {next(iter(env.values()))}"


async def test_a_pane_that_is_gone_is_said(asked: Path) -> None:
    assert await show_pane({"WEZTERM_PANE": "gone"}) is not None
    (asked.parent / "tmux").write_text("#!/bin/sh\nexit 1\n")
    assert await show_pane({"TMUX_PANE": "%3"}) == "tmux could not show pane %3"


async def test_a_terminal_without_its_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    said = await show_pane({"TMUX_PANE": "%3"})
    assert said is not None
    assert "tmux is not on this machine's PATH" in said


async def test_an_unknown_terminal_is_left_to_the_caller() -> None:
    assert await show_pane({"TMUX_PANE": "", "SSH_TTY": "/dev/pts/1"}) is None

"""Bringing an agent's terminal to the front, by the pane that its hook's environment names."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

import anyio

# environment variable of the hook -> the command that shows its pane
_WAYS: dict[str, tuple[str, ...]] = {
    "TMUX_PANE": ("tmux", "switch-client", "-t"),
    "ZELLIJ_PANE_ID": ("zellij", "action", "focus-pane-with-id"),
    "KITTY_WINDOW_ID": ("kitty", "@", "focus-window", "--match"),
    "WEZTERM_PANE": ("wezterm", "cli", "activate-pane", "--pane-id"),
}


async def show_pane(env: Mapping[str, str]) -> str | None:
    """Shows the pane; returns in words what was done, None where no known terminal is named."""
    for name, command in _WAYS.items():
        pane = env.get(name)
        if not pane:
            continue
        target = f"id:{pane}" if name == "KITTY_WINDOW_ID" else pane
        try:
            done = await anyio.run_process([*command, target], check=False, stderr=subprocess.PIPE)
        except OSError:
            return f"{command[0]} is not on this machine's PATH; the agent is in its pane {pane}"
        if done.returncode == 0:
            return f"{command[0]} shows pane {pane}"
        return f"{command[0]} could not show pane {pane}"
    return None

"""Checks this machine: directories, sockets, disk, core, shell parser, PIN and terminal."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from watchgate.service.setup.doctor.check import Check

_TIMEOUT_S = 5


def check_tmux(env: Mapping[str, str]) -> list[Check]:
    """Checks that tmux passes escape sequences on to the terminal; nothing outside of tmux."""
    if not env.get("TMUX"):
        return []
    try:
        shown = subprocess.run(
            ["tmux", "show-options", "-gv", "allow-passthrough"],  # noqa: S607 - the user's own tmux
            capture_output=True,
            check=False,
            text=True,
            timeout=_TIMEOUT_S,
            env=dict(env),
        )
    except (OSError, subprocess.SubprocessError) as error:
        return [Check("tmux", "warn", f"cannot be asked for allow-passthrough: {error}")]
    if shown.stdout.strip() in ("on", "all"):
        return [Check("tmux", "ok", "passes notifications on to the terminal")]
    text = "keeps notifications from the terminal"
    return [Check("tmux", "warn", text, "put `set -g allow-passthrough on` into tmux.conf")]

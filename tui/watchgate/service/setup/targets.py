"""Which file of an agent holds its hooks, for one user or for one project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

Scope = Literal["user", "project"]


class Refusal(Exception):
    """The installer does not do this; the message says why and what to do instead."""


def home(agent: str, env: Mapping[str, str]) -> Path:
    """The agent's own directory for this user, whether it exists or not."""
    variable, name = {
        "claude": ("CLAUDE_CONFIG_DIR", ".claude"),
        "codex": ("CODEX_HOME", ".codex"),
    }[agent]
    given = env.get(variable)
    return Path(given).expanduser().absolute() if given else _user(env) / name


def hooks_path(agent: str, scope: Scope, env: Mapping[str, str], cwd: Path) -> Path:
    """The file to edit; raises `Refusal` where a project has no file that stays uncommitted."""
    if scope == "user":
        return home(agent, env) / ("settings.json" if agent == "claude" else "hooks.json")
    if agent == "claude":
        return cwd / ".claude" / "settings.local.json"
    raise Refusal(
        "Codex has no hooks file that stays out of a project's repository, and a committed one "
        "would run this machine's paths for everybody: use --scope user"
    )


def _user(env: Mapping[str, str]) -> Path:
    given = env.get("HOME")
    return Path(given) if given else Path.home()

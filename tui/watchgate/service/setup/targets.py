"""Reads and replaces an agent's own file that holds hooks: whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final, Literal, get_args

from watchgate.agents.base import Adapter, Setup

Scope = Literal["user", "project"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
_FOLDERS = ("scripts", "plugin")
_NO_PROJECT = (
    "{} has no hooks file that stays out of a project's repository, and a committed one "
    "would run this machine's paths for everybody: use --scope user"
)


class Refusal(Exception):
    """The installer does not do this; the message says why and what to do instead."""


def setup_of(agent: Adapter) -> Setup:
    """Returns an agent's installation; raises `Refusal` for one that needs none."""
    if agent.setup is None:
        raise Refusal(
            f"{agent.title} runs no hooks of its own: there is nothing to install. An agent that "
            "speaks ACP is gated where its editor starts it as `watchgate acp -- AGENT`"
        )
    return agent.setup


def is_folder(setup: Setup) -> bool:
    """Returns whether `user` names a folder of files of ours, not one file."""
    return setup.form in _FOLDERS


def home(setup: Setup, env: Mapping[str, str]) -> Path:
    """Returns the agent's own directory for this user, whether it exists or not."""
    given = env.get(setup.variable) if setup.variable else None
    if given:
        return Path(given).expanduser().absolute()
    return _user(env) / _below_home(setup).parts[0]


def place(agent: Adapter, scope: Scope, env: Mapping[str, str], cwd: Path) -> Path:
    """Returns the file to edit, or the folder; raises `Refusal` where a project has none."""
    setup = setup_of(agent)
    if scope == "user":
        return home(setup, env).joinpath(*_below_home(setup).parts[1:])
    if not setup.project:
        raise Refusal(setup.no_project or _NO_PROJECT.format(agent.title))
    return cwd / setup.project


def _below_home(setup: Setup) -> PurePosixPath:
    return PurePosixPath(setup.user).relative_to("~")


def _user(env: Mapping[str, str]) -> Path:
    given = env.get("HOME")
    return Path(given) if given else Path.home()

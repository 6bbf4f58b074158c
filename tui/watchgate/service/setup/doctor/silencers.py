"""Checks an agent's hook entries, and the settings that could silence them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from watchgate.agents.base import Adapter, Setup, Silencers
from watchgate.service.setup import files
from watchgate.service.setup.doctor.check import Check
from watchgate.service.setup.forms.editor import FormError
from watchgate.service.setup.forms.json_scan import scan
from watchgate.service.setup.targets import Refusal, home


def check_silencers(agent: Adapter, setup: Setup, env: Mapping[str, str], cwd: Path) -> list[Check]:
    """Returns one finding per settings file that silences us, or that all is well."""
    silencers = setup.silencers
    if silencers is None:
        return []
    name, own = f"{agent.name}: settings", home(setup, env)
    paths = [own / each for each in silencers.home]
    paths += [cwd / each for each in silencers.project] + [Path(each) for each in silencers.system]
    checks = [check for path in paths for check in _silenced(name, path, silencers, agent, setup)]
    return checks or [Check(name, "ok", "no settings file silences hooks")]


def _silenced(
    name: str, path: Path, silencers: Silencers, agent: Adapter, setup: Setup
) -> list[Check]:
    """Returns a finding for each setting in one file that silences our hooks.

    Args:
        name: The name of the check.
        path: The settings file.
        silencers: The settings to look for.
        agent: The agent.
        setup: How the agent is set up.
    """
    try:
        text = files.read(path).text
        settings = scan(text, comments=setup.comments).load(text) if text.strip() else {}
    except (Refusal, FormError) as error:
        text = f"{path} cannot be read, so {agent.title} may not read it either: {error}"
        return [Check(name, "warn", text, "mend it")]
    return [
        Check(name, "fail", f'"{key}" in {path} {what}', f'take "{key}" out of it')
        for key, (value, what) in silencers.keys.items()
        if _at(settings, key) is value
    ]


def _at(settings: Any, key: str) -> Any:
    for part in key.split("."):
        settings = settings.get(part) if isinstance(settings, dict) else None
    return settings

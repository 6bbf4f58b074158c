"""Finds our hooks, by the list of what was installed and by a look at the files; renews them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from watchgate.agents.base import Adapter
from watchgate.core.config import Config
from watchgate.link.paths import Paths
from watchgate.service.setup.installations import has_hooks, installations
from watchgate.service.setup.installer import setting_of
from watchgate.service.setup.interpreter import base_interpreter
from watchgate.service.setup.targets import Refusal


class Renewal(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for one agent's entries: the files that changed, or why none could be."""

    agent: Adapter
    changed: tuple[Path, ...] = ()
    refused: str = ""


def renew_entries(
    places: Paths, config: Config, known: Mapping[str, Adapter], env: Mapping[str, str]
) -> tuple[Renewal, ...]:
    """Writes the entries of every installed agent for this configuration's profile.

    Agents whose hooks somebody took out by hand are left alone, and so is the status line. One
    refusal does not stop the others. Raises `NoInterpreterError`.
    """
    python = base_interpreter()
    setting = setting_of(config, places, python)
    there = installations(places, known, env, Path.cwd())
    done = [
        Renewal(agent=known[lost.entry.agent], refused=f"{lost.entry.path}: {lost.why}")
        for lost in there.lost
        if lost.entry.agent in known
    ]
    for each in there.places:
        installer = each.installer(places)
        try:
            parts = installer.parts(each.agent, each.scope, setting, python)
            if not has_hooks(parts, unreadable=True):
                continue
            changes = installer.plan_install(each.agent, each.scope, setting, python)
            installer.install(changes, python, native=setting.native)
        except Refusal as refusal:
            done.append(Renewal(agent=each.agent, refused=str(refusal)))
            continue
        changed = tuple(change.path for change in changes if change.needed)
        done.append(Renewal(agent=each.agent, changed=changed))
    return tuple(done)

"""The adapters by name."""

from __future__ import annotations

from typing import Final

from watchgate.agents.base import Adapter
from watchgate.agents.claude.adapter import Claude
from watchgate.agents.codex.adapter import Codex
from watchgate.agents.synaps import Synaps
from watchgate.core.events import Lane

ADAPTERS: dict[str, Adapter] = {each.name: each for each in (Claude(), Codex(), Synaps())}
HOOKS_FILE: Final = ("claude", "codex")
"""The agents with a hooks file of their own; the others take us in as a plugin."""


class UnknownAgentError(ValueError):
    """No adapter has this name; the message lists the names there are."""


def adapter(name: str) -> Adapter:
    """The adapter of an agent; raises `UnknownAgentError`."""
    found = ADAPTERS.get(name)
    if found is None:
        raise UnknownAgentError(f"unknown agent {name!r}: use one of {', '.join(sorted(ADAPTERS))}")
    return found


def closed_template(agent: Adapter, native: str) -> str:
    """What the hook client prints to deny by itself, with `@` where its reason goes."""
    return agent.closed(native, Lane.GATE, "@").stdout.decode()

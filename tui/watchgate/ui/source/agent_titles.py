"""The names of agents in a sentence, as the core's adapters have them."""

from __future__ import annotations

from collections.abc import Mapping

from watchgate.core.base.text import safe_text

_titles: dict[str, str] = {}


def use_titles(titles: Mapping[str, str]) -> None:
    """Names agents so from here on; a core's snapshot has the titles of its adapters."""
    _titles.update(titles)


def title(agent: str) -> str:
    """Returns the agent's name in a sentence; its short name where no core gave another."""
    return safe_text(_titles.get(agent) or agent)

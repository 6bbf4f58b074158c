"""A handler for an event kind that an agent's hooks never send waits for ever."""

from __future__ import annotations

from collections.abc import Mapping

from watchgate.agents.base import Adapter
from watchgate.core.config_handlers import HandlerConfig


def never_sent(handler: HandlerConfig, known: Mapping[str, Adapter]) -> list[str]:
    """Returns warnings about a handler's kinds that the one agent it is for never sends."""
    adapter = known.get(handler.match.agent or "")
    if adapter is None:
        return []
    return [
        f"handler {handler.id}: {handler.match.agent} never sends {kind}, so it will not run for"
        f" it; {handler.match.agent} sends {', '.join(sorted(adapter.kinds))}"
        for kind in handler.on
        if kind not in adapter.kinds
    ]

"""Which kinds of events each agent's hooks ever send: a handler for another waits for ever."""

from __future__ import annotations

from collections.abc import Mapping

from watchgate.agents.base import Adapter
from watchgate.core.config_handlers import HandlerConfig


def never_sent(handler: HandlerConfig, known: Mapping[str, Adapter]) -> list[str]:
    """What to warn of: the handler's kinds that the one agent it is for never sends."""
    found = known.get(handler.match.agent or "")
    if found is None:
        return []
    return [
        f"handler {handler.id}: {handler.match.agent} never sends {kind}, so it will not run for"
        f" it; {handler.match.agent} sends {', '.join(sorted(found.kinds))}"
        for kind in handler.on
        if kind not in found.kinds
    ]

"""Which kinds of events each agent's hooks ever send: a handler for another waits for ever."""

from __future__ import annotations

from typing import Final

from watchgate.agents import synaps
from watchgate.agents.claude import adapter as claude
from watchgate.agents.codex import adapter as codex
from watchgate.core.config_handlers import HandlerConfig

SENT: Final[dict[str, frozenset[str]]] = {
    "claude": frozenset({kind for kind, _ in claude.EVENTS.values()} | {"notice", "question"}),
    "codex": frozenset({kind for kind, _ in codex.EVENTS.values()} | {"notice"}),
    "synaps": frozenset(kind for kind, _ in synaps.EVENTS.values()),
}


def never_sent(handler: HandlerConfig) -> list[str]:
    """What to warn of: the handler's kinds that the one agent it is for never sends."""
    sent = SENT.get(handler.match.agent or "")
    if sent is None:
        return []
    return [
        f"handler {handler.id}: {handler.match.agent} never sends {kind}, so it will not run for"
        f" it; {handler.match.agent} sends {', '.join(sorted(sent))}"
        for kind in handler.on
        if kind not in sent
    ]

"""Questions to the adapters: traits of an agent, its event kinds, and the agent of a payload.

An agent may run the hooks of another agent's configuration, so payloads show who sends them.

Copilot runs those of a repository's Claude settings, Cursor those of the user's. Our command then
says `claude`, and the payload is another agent's. An agent started from another's shell inherits
its environment, so a marker there is not enough: the shape of the payload decides.

A handler for an event kind that an agent's hooks never send waits for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from watchgate.agents.base import Adapter
from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.dispatch.handler_config import HandlerConfig
from watchgate.core.gate.gate_coverage import AgentTraits

Payload = Mapping[str, Any]


class PayloadSign(msgspec.Struct, frozen=True):
    """The marks of one agent's payload: in the environment or the bytes, then the payload's shape.

    The mark spares the others a second decoding.
    """

    env: str
    mark: bytes
    shape: Callable[[Payload], bool]


def _is_copilot(payload: Payload) -> bool:
    """Returns whether it has Copilot's own names, or Claude Code's without all of its fields."""
    if "sessionId" in payload:
        return True
    lacks = not payload.keys() & {"tool_use_id", "prompt_id", "permission_mode"}
    return "timestamp" in payload and lacks


def _is_vscode(payload: Payload) -> bool:
    """Returns whether it has Claude Code's names and a time of day, as only VS Code's has."""
    known = {"session_id", "timestamp", "tool_use_id"} <= payload.keys()
    return known and not payload.keys() & {"prompt_id", "permission_mode"}


def _is_cursor(payload: Payload) -> bool:
    return "conversation_id" in payload or "cursor_version" in payload


SIGNS: Final = {
    "copilot": PayloadSign("COPILOT_CLI", b'"sessionId"', _is_copilot),
    "cursor": PayloadSign("CURSOR_VERSION", b'"cursor_version"', _is_cursor),
    "vscode": PayloadSign("", b'"timestamp"', _is_vscode),
}


def resolve_agent(
    agent: str, payload: bytes, env: Mapping[str, str], known: Mapping[str, Adapter]
) -> str:
    """Returns the agent whose payload this is: the one that the command names, or a borrower."""
    for name, sign in SIGNS.items():
        if name == agent or not (sign.env in env or sign.mark in payload):
            continue
        if _runs(name, agent, known) and sign.shape(_fields(payload)):
            return name
    return agent


def _runs(borrower: str, lender: str, known: Mapping[str, Adapter]) -> bool:
    adapter = known.get(borrower)
    setup = adapter.setup if adapter else None
    return setup is not None and lender in setup.also_loads


def _fields(payload: bytes) -> Payload:
    try:
        return decoding.decode(payload, dict[str, Any])
    except JSON_FAULTS:
        return {}


def warn_unsent_kinds(handler: HandlerConfig, known: Mapping[str, Adapter]) -> list[str]:
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


def traits_in(adapters: Mapping[str, Adapter]) -> Callable[[str], AgentTraits]:
    """Returns a function that looks up an agent's traits: an adapter is imported only then."""

    def traits(agent: str) -> AgentTraits:
        adapter = adapters.get(agent)
        if adapter is None or adapter.setup is None:
            return AgentTraits()
        setup = adapter.setup
        return AgentTraits(must_trust=setup.must_trust, hookless=setup.hookless, live=setup.live)

    return traits

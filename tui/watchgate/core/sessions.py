"""Session states: what an agent is doing, as far as its events tell."""

from __future__ import annotations

from enum import StrEnum


class SessionState(StrEnum):
    """Working, waiting for a person, idle after its turn, failed, gone, or not known."""

    WORKING = "working"
    WAITING = "waiting"
    IDLE = "idle"
    FAILED = "failed"
    GONE = "gone"
    UNKNOWN = "unknown"


_AFTER: dict[str, SessionState] = {
    "session.start": SessionState.IDLE,
    "session.end": SessionState.GONE,
    "prompt.submit": SessionState.WORKING,
    "turn.end": SessionState.IDLE,
    "turn.error": SessionState.FAILED,
    "turn.interrupt": SessionState.IDLE,
    "tool.pre": SessionState.WORKING,
    "tool.permission": SessionState.WORKING,
    "tool.post": SessionState.WORKING,
    "tool.error": SessionState.WORKING,
    "tool.batch": SessionState.WORKING,
    "message": SessionState.WORKING,
    "model.request": SessionState.WORKING,
    "agent.start": SessionState.WORKING,
}


def after(state: SessionState, kind: str) -> SessionState:
    """The state that follows an event of this kind; kinds that tell nothing leave it as it was."""
    return _AFTER.get(kind, state)


def shown(state: SessionState, *, pending: int) -> SessionState:
    """The state to show: an open question outranks everything but the end of the session."""
    if pending and state is not SessionState.GONE:
        return SessionState.WAITING
    return state

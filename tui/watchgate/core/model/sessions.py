"""Session states: what an agent is doing, as far as its events tell."""

from __future__ import annotations

from enum import StrEnum

import msgspec

LEFT_S = 5
SILENT_S = 15 * 60
_US = 1_000_000


class SessionState(StrEnum):
    """The activity of an agent: at work, waiting for a person here or there, idle, ..."""

    WORKING = "working"
    WAITING = "waiting"
    NEEDS_THERE = "needs you there"
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


class Guess(msgspec.Struct, frozen=True):
    """A state to show; `why` says what it was inferred from, empty where events told it."""

    state: SessionState
    why: str = ""


def guessed(now_us: int, *, seen_at: int, left_at: int) -> Guess:
    """Guesses the state of a session that was working when its last event came (times: UTC µs).

    An agent that is interrupted ends its hook, and most say nothing more. Whoever is not heard of
    for long may run something slow or be gone: that is not known.
    """
    if left_at and seen_at <= left_at <= now_us - LEFT_S * _US:
        return Guess(SessionState.IDLE, "interrupted? its hook went away and nothing followed")
    if seen_at < now_us - SILENT_S * _US:
        return Guess(SessionState.UNKNOWN, "not heard of for long")
    return Guess(SessionState.WORKING)


def unknown_state_words(calls: int) -> str:
    """The words for a session that made so many calls, and does nobody knows what."""
    return "silent" if calls else "no call yet"


def shown(state: SessionState, *, pending: int, asks_there: bool = False) -> SessionState:
    """The state to show: an open question outranks everything but the end of the session.

    `asks_there` says that the agent asks in its own terminal.
    """
    if state is SessionState.GONE or not (pending or asks_there):
        return state
    return SessionState.WAITING if pending else SessionState.NEEDS_THERE

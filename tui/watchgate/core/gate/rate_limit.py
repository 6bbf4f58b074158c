"""Limits on the requests of one session: a queue that nobody can read is not put to anybody.

A flood of requests teaches people to allow by habit. So a session has room for a few open requests;
one that goes beyond it, that queues too many in a minute, or that goes on trying what was denied is
paused: what would be held is denied at once, with the reason, until the pause is over.
"""

from __future__ import annotations

from collections import deque

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.base.clock import Instant

PENDING_MAX = 20
QUEUED_A_MINUTE = 30
RETRIES_DENIED = 3
PAUSE_S = 60.0
_MINUTE_S = 60.0
_SESSIONS_MAX = 2_000


class SessionPause(msgspec.Struct, frozen=True):
    """A pause of a session: its end and its reason."""

    until: Instant
    why: str


class _SessionRate:
    """The recent requests of one session; `queued` are monotonic times of those that waited."""

    def __init__(self) -> None:
        self.queued: deque[float] = deque(maxlen=QUEUED_A_MINUTE)
        self.denied = 0
        self.pause: SessionPause | None = None


class RateLimiter:
    """The recent requests and pauses of every session, by agent and session."""

    def __init__(self) -> None:
        self._sessions: Recent[tuple[str, str], _SessionRate] = Recent(_SESSIONS_MAX)

    def paused(self, agent: str, session: str, now: Instant) -> SessionPause | None:
        """Returns the pause that a session is in; else None."""
        pace = self._sessions.get((agent, session))
        if pace is None or pace.pause is None:
            return None
        if now.mono_s >= pace.pause.until.mono_s:
            pace.pause = None
            return None
        return pace.pause

    def count_request(
        self, agent: str, session: str, pending: int, now: Instant
    ) -> SessionPause | None:
        """Counts one more request of a session that has `pending` open ones already.

        Returns the pause that begins with it, if it is one too many; it is then not to be held.
        """
        if not pending:
            return None
        pace = self._pace(agent, session)
        if pending >= PENDING_MAX:
            return self._pause(pace, f"{pending} of its calls wait for an operator already", now)
        if len(pace.queued) == QUEUED_A_MINUTE and now.mono_s - pace.queued[0] < _MINUTE_S:
            why = f"it asked for {QUEUED_A_MINUTE + 1} calls within a minute, faster than one reads"
            return self._pause(pace, why, now)
        pace.queued.append(now.mono_s)
        return None

    def count_decision(
        self, agent: str, session: str, *, allowed: bool, retry: bool, now: Instant
    ) -> SessionPause | None:
        """Counts an operator's decision; returns the pause that begins with it, if any.

        Args:
            agent: the agent of the session.
            session: the session.
            allowed: whether the call was allowed.
            retry: whether the call came again after a denial.
            now: the current time.
        """
        if allowed:
            if (pace := self._sessions.get((agent, session))) is not None:
                pace.denied, pace.pause = 0, None
            return None
        if not retry:
            return None
        pace = self._pace(agent, session)
        pace.denied += 1
        if pace.denied < RETRIES_DENIED:
            return None
        pace.denied = 0
        why = f"{RETRIES_DENIED} new tries at denied calls were denied"
        return self._pause(pace, why, now)

    def forget(self, agent: str, session: str) -> None:
        """Forgets a session that ended."""
        self._sessions.pop((agent, session), None)

    def _pace(self, agent: str, session: str) -> _SessionRate:
        pace = self._sessions.get((agent, session))
        if pace is None:
            pace = self._sessions[agent, session] = _SessionRate()
        return pace

    def _pause(self, pace: _SessionRate, why: str, now: Instant) -> SessionPause:
        pace.queued.clear()
        pace.pause = SessionPause(now.plus(PAUSE_S), why)
        return pace.pause

"""Standing grants: an operator's allow that also covers equal calls to come.

Equal means the exact subject (agent, session, sub-agent, tool, input, cwd); nothing is generalised
here, and nothing of high, critical or unknown risk is ever granted.
"""

from __future__ import annotations

import msgspec

from watchgate.core.clock import Instant

SCOPES_BY_RISK: dict[str, tuple[str, ...]] = {
    "low": ("once", "turn", "session", "15m"),
    "medium": ("once", "turn", "session", "15m"),
}


class Grant(msgspec.Struct, kw_only=True):
    """One grant: what it covers, until when, who gave it with which request."""

    request: str
    digest: str
    agent: str
    session: str
    turn: str | None
    scope: str
    by: str
    given: Instant
    until_s: float | None = None
    hits: int = 0


def scopes_for(risk: str) -> tuple[str, ...]:
    """The scopes an allow of this risk may have."""
    return SCOPES_BY_RISK.get(risk, ("once",))


class Grants:
    """All grants in force."""

    def __init__(self) -> None:
        self._by_digest: dict[str, Grant] = {}

    def add(self, grant: Grant) -> None:
        """Put a grant in force; a later one for the same subject replaces it."""
        if grant.scope == "15m":
            grant.until_s = grant.given.mono_s + 15 * 60
        self._by_digest[grant.digest] = grant

    def covering(self, digest: str, turn: str | None, now: Instant) -> Grant | None:
        """The grant that covers this subject now, counted as a hit."""
        grant = self._by_digest.get(digest)
        if grant is None:
            return None
        if grant.until_s is not None and now.mono_s >= grant.until_s:
            del self._by_digest[digest]
            return None
        if grant.scope == "turn" and grant.turn != turn:
            return None
        grant.hits += 1
        return grant

    def end_turn(self, agent: str, session: str) -> None:
        """Drop what was granted for the turn that ended."""
        self._drop(agent, session, {"turn"})

    def end_session(self, agent: str, session: str) -> None:
        """Drop everything that was granted to a session that ended."""
        self._drop(agent, session, {"turn", "session", "15m"})

    def all(self) -> list[Grant]:
        """Every grant in force, oldest first."""
        return sorted(self._by_digest.values(), key=lambda grant: grant.given.mono_s)

    def _drop(self, agent: str, session: str, scopes: set[str]) -> None:
        self._by_digest = {
            digest: grant
            for digest, grant in self._by_digest.items()
            if not (grant.agent == agent and grant.session == session and grant.scope in scopes)
        }

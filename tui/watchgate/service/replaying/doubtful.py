"""Decides a whole recording again, and compares the outcomes that can be compared."""

from __future__ import annotations

from watchgate.core.raising import RETRY
from watchgate.service.replaying.outcomes import Outcome
from watchgate.service.replaying.recording import Came


class Doubtful:
    """The calls that were left out: what depends on one of them is as doubtful as that."""

    def __init__(self) -> None:
        self._calls: set[tuple[str, str, str | None]] = set()
        self._denied: set[tuple[str, str]] = set()

    def add(self, came: Came, then: Outcome, now: Outcome) -> None:
        """Notes an event that was left out."""
        event, record = came.event, came.record
        self._calls.add((event.agent, event.session, record.call))
        if any((each.word or "").startswith("denied") for each in (then, now)):
            self._denied.add((event.agent, event.session))

    def touches(self, came: Came, then: Outcome, now: Outcome, differs: tuple[str, ...]) -> bool:
        """Returns whether an event may depend on such a call: its own, its retry, or a breaker."""
        event, record = came.event, came.record
        if (event.agent, event.session, record.call) in self._calls:
            return True
        if self._calls and (_rested(then) or _rested(now)):
            return True
        # Where a handler or the end of the core decided, a retry may show in the risk alone.
        retried = _retried(then) or _retried(now) or differs == ("risk",)
        return retried and (event.agent, event.session) in self._denied


def _retried(outcome: Outcome) -> bool:
    return RETRY in (outcome.rule, *(each["rule"] for each in outcome.findings))


def _rested(outcome: Outcome) -> bool:
    """Returns whether a breaker kept a handler from running, which counts over all calls."""
    rows = [] if outcome.trace is None else outcome.trace["rows"]
    return any(row["why"] == "breaker" for row in rows)

"""Which escalation is due for which request: each is told once of each, and of no settled one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from watchgate.core.clock import Instant
from watchgate.core.config_escalation import EscalationConfig
from watchgate.core.policy.assessment import Risk, severity
from watchgate.core.requests import Request, Status


class Due(msgspec.Struct, frozen=True):
    """One who is to be told of one request, which waited so long."""

    request: str
    entry: EscalationConfig
    waited_s: float


class Escalations:
    """The entries of a configuration, and which of them was told of which open request."""

    def __init__(self, entries: Sequence[EscalationConfig]) -> None:
        self._entries = tuple(entries)
        self._told: set[tuple[str, str]] = set()

    def due(self, requests: Collection[Request], *, attended: bool, now: Instant) -> list[Due]:
        """Who is to be told now, the longest wait first; from now on they count as told.

        `requests` are all that are open, `attended` says that a console is attached.
        """
        ids = {request.id for request in requests}
        self._told = {pair for pair in self._told if pair[0] in ids}
        found = [
            Due(request.id, entry, now.mono_s - request.opened.mono_s)
            for request in requests
            for entry in self._entries
            if self._wanted(request, entry, attended=attended, now=now)
        ]
        self._told.update((due.request, due.entry.name) for due in found)
        return sorted(found, key=lambda due: -due.waited_s)

    def _wanted(
        self, request: Request, entry: EscalationConfig, *, attended: bool, now: Instant
    ) -> bool:
        return (
            request.status is Status.PENDING
            and (request.id, entry.name) not in self._told
            and not (attended and entry.when == "unattended")
            and _rank(request.data.risk) >= severity(entry.min_risk)
            and now.mono_s - request.opened.mono_s >= entry.after_s
        )


def _rank(risk: Risk) -> int:
    """What nobody could judge is told of like what is known to be high."""
    return severity("high" if risk == "unknown" else risk)

"""Escalations: requests that another person is notified of, each once and never a settled one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from watchgate.core.clock import Instant
from watchgate.core.config_escalation import EscalationConfig
from watchgate.core.policy.assessment import Risk, severity
from watchgate.core.requests import Request, Status


class Due(msgspec.Struct, frozen=True):
    """An escalation that is due: its entry, and the request that waited so long."""

    request: str
    entry: EscalationConfig
    waited_s: float


class Escalations:
    """The entries of a configuration, and the open requests that each was used for."""

    def __init__(self, entries: Sequence[EscalationConfig]) -> None:
        self._entries = tuple(entries)
        self._notified: set[tuple[str, str]] = set()

    def due(self, requests: Collection[Request], *, attended: bool, now: Instant) -> list[Due]:
        """Returns the escalations that are due, the longest wait first; each is due only once.

        `requests` are all that are open, `attended` says that a console is attached.
        """
        ids = {request.id for request in requests}
        self._notified = {pair for pair in self._notified if pair[0] in ids}
        due_now = [
            Due(request.id, entry, now.mono_s - request.opened.mono_s)
            for request in requests
            for entry in self._entries
            if self._wanted(request, entry, attended=attended, now=now)
        ]
        self._notified.update((due.request, due.entry.name) for due in due_now)
        return sorted(due_now, key=lambda due: -due.waited_s)

    def _wanted(
        self, request: Request, entry: EscalationConfig, *, attended: bool, now: Instant
    ) -> bool:
        return (
            request.status is Status.PENDING
            and (request.id, entry.name) not in self._notified
            and not (attended and entry.when == "unattended")
            and _rank(request.data.risk) >= severity(entry.min_risk)
            and now.mono_s - request.opened.mono_s >= entry.after_s
        )


def _rank(risk: Risk) -> int:
    """Ranks a risk; what nobody could judge counts as high."""
    return severity("high" if risk == "unknown" else risk)

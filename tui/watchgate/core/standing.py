"""The status of a core: its consoles, its journal, and how long clients and operators may take."""

from __future__ import annotations

from watchgate.core.clock import Instant
from watchgate.core.config import Config
from watchgate.core.deadlines import given_s, wait_s
from watchgate.core.events import Event, Lane
from watchgate.core.policy.gate import PolicyGate
from watchgate.core.records import Silence


class Standing:
    """The host's report on its consoles and its journal, and the limits that follow from it.

    `consoles` counts the attached ones, `key_seen_s` is when one saw a key (monotonic), and
    `journal_lost` says why nothing can be written; empty while all is well.
    """

    def __init__(self, config: Config, gate: PolicyGate) -> None:
        self.config = config
        self.consoles = 0
        self.last_key_s = float("-inf")
        self.journal_lost = ""
        self._gate = gate

    def silence(self, event: Event) -> Silence:
        """Returns what it means for this event's agent when nobody answers."""
        strict_read = event.lane is Lane.GATE_READ and self._gate.profile == "strict"
        return "deny" if event.lane is Lane.GATE or strict_read else "handback"

    def wait_s(self, event: Event, now: Instant) -> float:
        """Returns the seconds for which an operator may be waited for; 0: hand back at once."""
        return wait_s(
            event,
            self.config,
            attended=self.consoles > 0,
            key_age_s=now.mono_s - self.last_key_s,
            now=now,
        )

    def dispatch_limit_s(self, event: Event) -> float:
        """Returns the seconds that the handlers of this event may take together."""
        if not event.lane.waits:
            return float("inf")
        return given_s(event, self.config.approval.margin_s)

"""The status of a core: its consoles, its journal, and how long clients and operators may take.

A request may wait for the broker's own limit, inside what the hook client allows.
"""

from __future__ import annotations

from watchgate.core.base.clock import Instant
from watchgate.core.config.config import Config
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.records import Silence

KEY_RECENT_S = 300.0
_FOREVER = float("inf")
_AT_ONCE = 0.001


def request_limit_s(
    event: Event, config: Config, *, attended: bool, key_age_s: float, now: Instant
) -> float:
    """Returns the seconds until silence decides; 0 means that the request is handed back at once.

    Only a relay gets 0: on a gate the shortest wait still ends as its silence says, with a record.

    Args:
        event: the event that asks.
        config: the configuration, with its limits.
        attended: whether a console is attached.
        key_age_s: seconds since a console saw a key.
        now: the current time.
    """
    times = config.approval
    spent_s = now.mono_s - event.at.mono_s
    client_s = client_limit_s(event, times.margin_s)
    own_s: float = times.timeout_s if attended else times.unattended_timeout_s
    relayed = event.lane is Lane.RELAY
    if relayed:
        somebody_there = attended and key_age_s <= KEY_RECENT_S
        if not event.races_dialog and not somebody_there:
            return 0.0
        relay = times.relay_timeout_s
        own_s = (relay.racing if event.races_dialog else relay.serial) or client_s
    left_s = min(own_s, client_s) - spent_s
    if left_s == _FOREVER:
        left_s = times.unattended_timeout_s
    return max(left_s, 0.0 if relayed else _AT_ONCE)


def client_limit_s(event: Event, margin_s: float) -> float:
    """Returns the seconds that a client leaves for the answer: what it waits, less the margin.

    One that waits no longer than the margin still leaves most of its time.
    """
    if event.deadline_s is None:
        return _FOREVER
    left_s = event.deadline_s - margin_s
    return left_s if left_s > 0 else event.deadline_s * 0.75


class CoreStatus:
    """The host's report on its consoles and its journal, and the limits that follow from it.

    `consoles` counts the attached ones, `last_key_s` is when one saw a key (monotonic), and
    `journal_lost` says why nothing can be written; empty while all is well. **Silence denies** is
    decided here: on a gate it does, on a relay it hands the call back (`silence`).
    """

    def __init__(self, config: Config, gate: PolicyGate) -> None:
        self.config = config
        self.consoles = 0
        self.last_key_s = float("-inf")
        self.journal_lost = ""
        self._gate = gate

    def silence(self, event: Event) -> Silence:
        """Returns the answer that silence stands for with this event's agent."""
        strict_read = event.lane is Lane.GATE_READ and self._gate.profile == "strict"
        return "deny" if event.lane is Lane.GATE or strict_read else "handback"

    def wait_s(self, event: Event, now: Instant) -> float:
        """Returns the seconds for which an operator may be waited for; 0: hand back at once."""
        return request_limit_s(
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
        return client_limit_s(event, self.config.approval.margin_s)

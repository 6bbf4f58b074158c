"""The time that a request may wait: the broker's own limit, inside what the hook client allows."""

from __future__ import annotations

from watchgate.core.clock import Instant
from watchgate.core.config import Config
from watchgate.core.events import Event, Lane

KEY_SEEN_S = 300.0
_FOREVER = float("inf")
_AT_ONCE = 0.001


def wait_s(
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
    client_s = given_s(event, times.margin_s)
    own_s: float = times.timeout_s if attended else times.unattended_timeout_s
    relayed = event.lane is Lane.RELAY
    if relayed:
        somebody_there = attended and key_age_s <= KEY_SEEN_S
        if not event.races_dialog and not somebody_there:
            return 0.0
        relay = times.relay_timeout_s
        own_s = (relay.racing if event.races_dialog else relay.serial) or client_s
    left_s = min(own_s, client_s) - spent_s
    if left_s == _FOREVER:
        left_s = times.unattended_timeout_s
    return max(left_s, 0.0 if relayed else _AT_ONCE)


def given_s(event: Event, margin_s: float) -> float:
    """Returns the seconds that a client leaves for the answer: what it waits, less the margin.

    One that waits no longer than the margin still leaves most of its time.
    """
    if event.deadline_s is None:
        return _FOREVER
    left_s = event.deadline_s - margin_s
    return left_s if left_s > 0 else event.deadline_s * 0.75

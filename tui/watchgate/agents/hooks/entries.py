"""Which hooks a profile installs, for agents with a pre-tool and a permission event."""

from __future__ import annotations

import msgspec

from watchgate.agents.base import HookEntry
from watchgate.agents.hooks.answers import PERMISSION, PRE_TOOL
from watchgate.core.events import Lane

LONGEST_TIMEOUT_S = 86_400
OBSERVER_TIMEOUT_S = 5
WAITING = "watchgate: waiting for an operator (watchgate ls)"
PROFILES = ("watch", "guard", "strict")


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's part: matchers that split its tools in two, and its observed events.

    Without a `read_matcher` every tool goes to the gate. `timeouts_s` are those of observed events
    to which the agent gives less time than ours.
    """

    gate_matcher: str | None
    read_matcher: str | None
    observed: tuple[str, ...]
    timeouts_s: dict[str, int]


def entries(plan: Plan, profile: str) -> tuple[HookEntry, ...]:
    """The entries in the order in which they are written; raises `ValueError` on a bad profile."""
    if profile not in PROFILES:
        raise ValueError(f"unknown profile {profile!r}: use one of {', '.join(PROFILES)}")
    return (
        *_before(plan, profile),
        _waiting(PERMISSION, Lane.RELAY, None),
        *(
            HookEntry(
                event=event,
                lane=Lane.OBSERVE,
                timeout_s=plan.timeouts_s.get(event, OBSERVER_TIMEOUT_S),
            )
            for event in plan.observed
        ),
    )


def _before(plan: Plan, profile: str) -> tuple[HookEntry, ...]:
    if profile == "watch":
        return (HookEntry(event=PRE_TOOL, lane=Lane.OBSERVE, timeout_s=OBSERVER_TIMEOUT_S),)
    gate = _waiting(PRE_TOOL, Lane.GATE, plan.gate_matcher)
    if plan.read_matcher is None:
        return (gate,)
    return gate, _waiting(PRE_TOOL, Lane.GATE_READ, plan.read_matcher)


def _waiting(event: str, lane: Lane, matcher: str | None) -> HookEntry:
    return HookEntry(
        event=event,
        lane=lane,
        matcher=matcher,
        timeout_s=LONGEST_TIMEOUT_S,
        status_message=WAITING,
    )

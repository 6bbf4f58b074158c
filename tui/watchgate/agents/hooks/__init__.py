"""The hooks that a profile installs, with the matchers that send tools to one of them.

A matcher holds whether an agent searches for a match or wants the whole name to match.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

import msgspec

from watchgate.agents.base import HookEntry
from watchgate.agents.hooks.answers import PERMISSION, PRE_TOOL
from watchgate.core.model.events import Lane, ToolClass
from watchgate.core.policy.rules.profiles import PROFILES

LONGEST_TIMEOUT_S = 86_400
OBSERVER_TIMEOUT_S = 5
WAITING = "watchgate: waiting for an operator (watchgate ls)"

_GATES = (Lane.GATE, Lane.GATE_READ)


def gate(event: str, matcher: str | None = None, timeout_s: int = LONGEST_TIMEOUT_S) -> HookEntry:
    """Returns a hook that holds a call or a prompt until it is decided; silence denies it."""
    return _waiting(event, Lane.GATE, matcher, timeout_s)


def gate_read(
    event: str, matcher: str | None = None, timeout_s: int = LONGEST_TIMEOUT_S
) -> HookEntry:
    """Returns a gate for tools that only read; silence hands back, but denies under `strict`."""
    return _waiting(event, Lane.GATE_READ, matcher, timeout_s)


def relay(event: str, matcher: str | None = None, timeout_s: int = LONGEST_TIMEOUT_S) -> HookEntry:
    """Returns a hook on what the agent would ask a person itself; silence hands back."""
    return _waiting(event, Lane.RELAY, matcher, timeout_s)


def observed(
    *events: str, timeouts_s: Mapping[str, int] = MappingProxyType({})
) -> tuple[HookEntry, ...]:
    """Returns hooks that only report; `timeouts_s` holds the events with less time than ours."""
    return tuple(
        HookEntry(
            event=event, lane=Lane.OBSERVE, timeout_s=timeouts_s.get(event, OBSERVER_TIMEOUT_S)
        )
        for event in events
    )


def hooks_of_profile(
    hooks: Iterable[HookEntry], profile: str, before: Collection[str]
) -> tuple[HookEntry, ...]:
    """Returns the hooks of a profile; `watch` only observes the events `before` a call and gates.

    Where it looks at several parts of one event, one hook on all of it does. Raises `ValueError` on
    a bad profile.
    """
    if profile not in PROFILES:
        raise ValueError(f"unknown profile {profile!r}: use one of {', '.join(PROFILES)}")
    if profile != "watch":
        return tuple(hooks)
    plan: dict[tuple[str, Lane], HookEntry] = {}
    for entry in hooks:
        looks = entry.lane in _GATES or (entry.lane.waits and entry.event in before)
        each = _looking(entry) if looks else entry
        key = (each.event, each.lane)
        plan[key] = msgspec.structs.replace(each, matcher=None) if key in plan else each
    return tuple(plan.values())


class HookPlan(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's part: matchers that split its tools in two, and its observed events.

    Without a `read_matcher` every tool goes to the gate. `timeouts_s` are those of observed events
    to which the agent gives less time than ours.
    """

    gate_matcher: str | None
    read_matcher: str | None
    observed: tuple[str, ...]
    timeouts_s: dict[str, int]


def plan_entries(plan: HookPlan, profile: str) -> tuple[HookEntry, ...]:
    """Returns the entries in the order in which they are written.

    Raises `ValueError` on a bad profile.
    """
    reads = () if plan.read_matcher is None else (gate_read(PRE_TOOL, plan.read_matcher),)
    hooks = (
        gate(PRE_TOOL, plan.gate_matcher),
        *reads,
        relay(PERMISSION),
        *observed(*plan.observed, timeouts_s=plan.timeouts_s),
    )
    return hooks_of_profile(hooks, profile, (PRE_TOOL,))


def _looking(entry: HookEntry) -> HookEntry:
    return HookEntry(
        event=entry.event,
        lane=Lane.OBSERVE,
        matcher=entry.matcher,
        timeout_s=min(entry.timeout_s, OBSERVER_TIMEOUT_S),
    )


def _waiting(event: str, lane: Lane, matcher: str | None, timeout_s: int) -> HookEntry:
    return HookEntry(
        event=event, lane=lane, matcher=matcher, timeout_s=timeout_s, status_message=WAITING
    )


def match_reads(classes: Mapping[str, ToolClass]) -> str:
    """Matches exactly the tools of a table that only read."""
    return f"^(?:{'|'.join(_reading(classes))})$"


def match_others(classes: Mapping[str, ToolClass]) -> str:
    """Matches every other tool, also one that no table knows; for engines that can look ahead."""
    return f"^(?!(?:{'|'.join(_reading(classes))})$).*$"


def _reading(classes: Mapping[str, ToolClass]) -> list[str]:
    return [name for name, cls in classes.items() if cls == "read"]

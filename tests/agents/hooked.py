"""One hook call of any agent, decoded and answered, and the hooks that wait."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.base import HookAnswer, HookEntry, Intake
from watchgate.agents.registry import adapter
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.verdicts import Reply, SayAllow, SayDeny, SayNothing

NOW = Instant(1_795_000_000_000_000, 12.5)
REASON = 'Not "here".'
ALLOW, DENY, STOP = SayAllow(), SayDeny(REASON), SayDeny(REASON, stop=True)
HANDBACK = SayNothing()
NOTHING = HookAnswer()
ON_STDERR = HookAnswer(stderr=b'Not "here".\n', exit_code=2)


def edited(**args: Any) -> SayAllow:
    return SayAllow(input=args)


def denied(stdout: bytes) -> HookAnswer:
    """The denial that is told in every way there is."""
    return HookAnswer(stdout, b'Not "here".\n', 2)


def heard(agent: str, fields: dict[str, Any], native: str = "", lane: Lane = Lane.OBSERVE) -> Event:
    intake = Intake(lane=lane, at=NOW, native=native, deadline_s=20.0)
    return adapter(agent).decode(msgspec.json.encode(fields), intake)


def told(agent: str, fields: dict[str, Any], reply: Reply, native: str = "") -> HookAnswer:
    """What the agent is told on the gate."""
    return adapter(agent).answer(heard(agent, fields, native, Lane.GATE), reply)


def gates(agent: str, profile: str = "guard") -> list[tuple[str, str, str | None, int]]:
    """Event, lane, matcher and seconds of the entries that wait."""
    return [
        (entry.event, entry.lane.value, entry.matcher, entry.timeout_s)
        for entry in adapter(agent).entries(profile)
        if entry.lane.waits
    ]


def observing(agent: str, profile: str) -> list[HookEntry]:
    return [entry for entry in adapter(agent).entries(profile) if not entry.lane.waits]

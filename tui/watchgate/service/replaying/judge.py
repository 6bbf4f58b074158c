"""The policy gate of a replay: calls that cannot be judged again keep their recorded assessment."""

from __future__ import annotations

from typing import Any

from watchgate.core.events import Event
from watchgate.core.policy.assessment import Assessment, Decision, Finding
from watchgate.core.policy.gate import PolicyGate
from watchgate.core.records import CallData, RequestData

_Key = tuple[str, str, str, int]


class Judge(PolicyGate):
    """A policy gate for the calls of a recording."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._as_recorded: dict[_Key, Assessment] = {}
        self._over: dict[_Key, str] = {}

    def keep(self, event: Event, assessment: Assessment) -> None:
        """Sets the assessment of the event's call."""
        self._as_recorded[_key(event)] = assessment

    def keep_over_budget(self, event: Event, why: str) -> None:
        """Notes that the event's call was asked because a budget was used up."""
        self._over[_key(event)] = why

    def over_budget(self, event: Event) -> str:
        """Returns what budgets say now, else what the recorded call says."""
        return super().over_budget(event) or self._over.get(_key(event), "")

    def assess(self, event: Event) -> Assessment | None:
        """Returns the recorded assessment of the call if that is kept, else the policy's now."""
        return self._as_recorded.get(_key(event)) or super().assess(event)


def as_recorded(call: CallData, asked: RequestData | None) -> Assessment:
    """Rebuilds the assessment that was recorded; its decision shows in what followed."""
    decision: Decision = "ask"
    if call.gate == "denied" and call.word == "denied-by-rule":
        decision = "deny"
    elif call.gate == "handback":
        decision = "allow"
    risk = asked.risk if asked is not None else call.risk
    findings = asked.findings if asked is not None else ()
    if not findings:
        findings = (Finding(call.rule, call.reason, risk, decision=decision),)  # type: ignore[arg-type]
    return Assessment(decision, risk, findings)  # type: ignore[arg-type]


def _key(event: Event) -> _Key:
    return event.agent, event.session, event.native, event.at.wall_us

"""The policy of a replay: calls that cannot be judged again keep what was recorded of them."""

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

    def keep(self, event: Event, found: Assessment) -> None:
        """Let the event's call have this assessment."""
        self._as_recorded[_key(event)] = found

    def keep_over_budget(self, event: Event, why: str) -> None:
        """The event's call was asked because a budget was used up, which may be told before."""
        self._over[_key(event)] = why

    def over_budget(self, event: Event) -> str:
        """What the recording told of budgets, else what the recorded call says."""
        return super().over_budget(event) or self._over.get(_key(event), "")

    def assess(self, event: Event) -> Assessment | None:
        """What was recorded of the call, if that is kept, else what the policy says now."""
        return self._as_recorded.get(_key(event)) or super().assess(event)


def as_recorded(call: CallData, asked: RequestData | None) -> Assessment:
    """The assessment that was recorded; what the policy decided is told by what followed."""
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

"""The assessment of an asked-for call by the policy and each profile, once for equal calls."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from watchgate.core.gate.grant_rules import grantable
from watchgate.core.lookback.proposals import Need, Unasked, needs_of
from watchgate.core.lookback.transcript_call import TranscriptCall
from watchgate.core.model.assessment import Assessment, Risk
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.rules.compiled_rule import Rule
from watchgate.core.policy.rules.policy import Policy
from watchgate.core.policy.rules.profiles import GateAction, Profile, gate_action
from watchgate.core.secrets.redact import redact
from watchgate.core.tools.summary import summary

GRAVE: frozenset[Risk] = frozenset(("high", "critical"))
ASKS_A_PERSON = frozenset(("question", "plan"))
TEXT_CHARS = 2_000
"""More of a call is not kept for showing it; it is judged whole."""


class CallAssessment(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The policy's assessment of a call: `text` is the call with its secrets replaced, if shown.

    `guard`, `guard_alone` and `strict` are what the gate would do in that profile; `alone` where
    nobody sits in front of the agent. `grantable` says that a standing grant could answer it.
    `needs_alone` and `needs_strict` are what would have to be answered for it to go on.
    """

    risk: Risk
    rule: str
    reason: str
    suggest: str
    guard: GateAction
    guard_alone: GateAction
    strict: GateAction
    grantable: bool
    needs_alone: frozenset[Need] = frozenset()
    needs_strict: frozenset[Need] = frozenset()
    text: str = ""

    def does(self, profile: Profile, *, alone: bool) -> GateAction:
        """Returns the action that the gate would take on it in a profile that holds calls."""
        if profile == "guard":
            return self.guard_alone if alone else self.guard
        return self.strict


_GOES_ON: frozenset[GateAction] = frozenset(("handback", "allow", "record"))


class TranscriptJudge:
    """Judges calls by one policy; equal calls of an agent in one folder are judged once.

    Not looked at is what nobody can know any more: the links on the disk then, and denials that
    came shortly before.
    """

    def __init__(self, policy: Policy, *, home: str, own: tuple[str, ...], now_us: int) -> None:
        """Judges by a policy; `home` and `own` as in `Subject`; `now_us` is for rules that end."""
        self._policy = policy
        self._home = home
        self._own = own
        self._now_us = now_us
        self._known: dict[tuple[str, ...], CallAssessment] = {}
        self._widened: tuple[tuple[str, ...], Policy] | None = None
        self._by_session = any(rule.scope.sessions for rule in policy.rules)

    @property
    def distinct(self) -> int:
        """The number of different calls."""
        return len(self._known)

    def __call__(self, asked: TranscriptCall) -> CallAssessment:
        """Returns the assessment of the call."""
        tool = asked.tool
        key: tuple[str, ...] = (asked.agent, tool.native_name, tool.input_hash, asked.cwd)
        if self._by_session:
            key = (*key, asked.session)
        assessment = self._known.get(key)
        if assessment is None:
            assessment = self._known[key] = _call_assessment(
                asked, self._assess(asked, self._policy)
            )
        return assessment

    def holds_with(self, asked: TranscriptCall, profile: Unasked, rules: Sequence[Rule]) -> bool:
        """Returns whether a profile would still hold the call if these rules were added."""
        key = tuple(rule.id for rule in rules)
        if self._widened is None or self._widened[0] != key:
            policy = self._policy
            added = Policy.with_rules((*policy.rules, *rules), policy.defaults, policy.faults)
            self._widened = key, added
        assessment = self._assess(asked, self._widened[1])
        return gate_action(profile, assessment, autonomous=profile == "guard") not in _GOES_ON

    def _assess(self, asked: TranscriptCall, policy: Policy) -> Assessment:
        subject = Subject(
            tool=asked.tool,
            agent=asked.agent,
            session=asked.session,
            cwd=asked.cwd,
            home=self._home,
            own=self._own,
        )
        return assess(subject, policy, self._now_us)


def _call_assessment(asked: TranscriptCall, assessment: Assessment) -> CallAssessment:
    alone = gate_action("guard", assessment, autonomous=True)
    strict = gate_action("strict", assessment, autonomous=False)
    needs_alone = needs_of(asked, assessment, "guard") if alone == "hold" else ()
    needs_strict = needs_of(asked, assessment, "strict") if strict == "hold" else ()
    shown = assessment.risk in GRAVE or needs_alone or needs_strict
    return CallAssessment(
        risk=assessment.risk,
        rule=assessment.rule,
        reason=assessment.reason,
        suggest=assessment.worst.suggest,
        guard=gate_action("guard", assessment, autonomous=False),
        guard_alone=alone,
        strict=strict,
        grantable=not grantable(assessment),
        needs_alone=frozenset(needs_alone),
        needs_strict=frozenset(needs_strict),
        # Redacted before it is cut: half a secret does not look like one.
        text=redact(summary(asked.tool, asked.cwd))[:TEXT_CHARS] if shown else "",
    )

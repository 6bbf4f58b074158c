"""Assessment of one call by the policy: a decision, a risk, and why."""

from __future__ import annotations

from watchgate.core.patterns.allowance import Spent, one_text
from watchgate.core.policy.assessment import Assessment, Finding
from watchgate.core.policy.compiled import Rule
from watchgate.core.policy.other_calls import assess_other
from watchgate.core.policy.policy import Policy
from watchgate.core.policy.shell_calls import Holds, assess_shell, combined
from watchgate.core.policy.subject import NOBODY, Subject

_SPENT = "Takes too long to be judged, so that nothing is known of it"
_TOO_DEEP = "Is nested too deep to be judged, so that nothing is known of it"


def assess(subject: Subject, policy: Policy, now_us: int) -> Assessment:
    """Assesses a call that is about to run by the policy.

    `now_us` are microseconds since 1970, for rules that end. A call that takes longer than one text
    may, or is nested deeper than a reader goes, is not understood. Grants of an operator and the
    profile come after it.
    """
    with one_text():
        try:
            return _assess(subject, policy, now_us)
        except (Spent, RecursionError) as fault:
            why = _SPENT if isinstance(fault, Spent) else _TOO_DEEP
            unknown = Finding("call.spent", why, "unknown", decision=policy.defaults.opaque)
            return combined([unknown, *policy.faults], [], (), opaque=True)


def _assess(subject: Subject, policy: Policy, now_us: int) -> Assessment:
    def holding(asked: Subject) -> Holds:
        known: dict[str, bool] = {}

        def holds(rule: Rule) -> bool:
            """Returns whether the rule's scope takes in the call, worked out once for a text."""
            in_scope = known.get(rule.id)
            if in_scope is None:
                in_scope = known[rule.id] = rule.scope.holds(asked, now_us)
            return in_scope

        return holds

    if subject.tool.cls == "shell":
        assessment = assess_shell(subject, policy, holding(subject))
    else:
        assessment = assess_other(subject, policy, holding)
    unseen = [link for link, target in subject.links if target == NOBODY]
    return _unseen(assessment, unseen) if unseen else assessment


def _unseen(assessment: Assessment, places: list[str]) -> Assessment:
    """Returns the assessment with a finding for places that nobody looked at."""
    reason = "Names more places than are looked at"
    if places != ["/"]:
        reason = (
            f"Names what lies on {', '.join(places)}, which may not answer, so that it is not known"
            " where that leads"
        )
    findings = [] if assessment.decision == "allow" else [*assessment.findings]
    findings.append(Finding("call.unseen", reason, "medium"))
    return combined(findings, [], assessment.segments, opaque=assessment.opaque)

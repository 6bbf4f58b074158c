"""The policy's word on one call: a decision, a risk, and why."""

from __future__ import annotations

from watchgate.core.policy.assessment import Assessment
from watchgate.core.policy.compiled import Rule
from watchgate.core.policy.other_calls import assess_other
from watchgate.core.policy.policy import Policy
from watchgate.core.policy.shell_calls import assess_shell
from watchgate.core.policy.subject import Subject


def assess(subject: Subject, policy: Policy, now_us: int) -> Assessment:
    """What the policy says about a call that is about to run.

    `now_us` are microseconds since 1970, for rules that end. Grants of an operator and the profile
    come after it.
    """
    known: dict[str, bool] = {}

    def holds(rule: Rule) -> bool:
        """A scope is worked out once for all commands of a text."""
        found = known.get(rule.id)
        if found is None:
            found = known[rule.id] = rule.scope.holds(subject, now_us)
        return found

    if subject.tool.cls == "shell":
        return assess_shell(subject, policy, holds)
    return assess_other(subject, policy, holds)

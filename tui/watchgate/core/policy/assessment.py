"""The assessment of one tool call: a decision, a risk, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from watchgate.core.text import Span

Decision = Literal["allow", "ask", "deny"]
Risk = Literal["low", "medium", "high", "critical", "unknown"]
Effect = Literal["ordinary", "lasting"]
"""The effect of a medium call where nobody sits: `ordinary` work stays in the session's
folder and can be done again; what is `lasting` leaves the machine or outlives the session."""

NO_RULE = "policy.no-rule"

_SEVERITY: dict[Risk, int] = {"low": 0, "medium": 1, "unknown": 2, "high": 3, "critical": 4}


def severity(risk: Risk) -> int:
    """Returns the rank of a risk; what nobody understands is worse than medium."""
    return _SEVERITY[risk]


class Finding(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One rule that matched.

    `span` is the offending part of the shown text (the command of a shell call, else the call's
    summary); `segment` counts the parts of a compound command from 1. `suggest` is a safer way to
    the same end; `always_ask` says that no grant answers it. `effect` is of medium and low risks.
    """

    rule: str
    reason: str
    risk: Risk
    span: Span | None = None
    segment: int | None = None
    decision: Decision = "ask"
    suggest: str = ""
    always_ask: bool = False
    effect: Effect | None = None


class Segment(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One command of a shell text, or the whole of any other call.

    `number` counts the parts of the text from 1; commands inside a part (of a wrapper, a
    substitution, a script) have its number and `nested`. `words` are the program and its arguments
    as the shell would pass them, empty where there is none; with `dynamic` a part of them is only
    known at run time. `rules` are the ids of the findings about it, `allowed_by` is the allow rule
    (or the word for why it needs none) that covers it, empty where nothing does. `unworded` says
    that it is fed something, reads or writes a file or sets variables beside its words.
    """

    number: int
    span: Span
    words: tuple[str, ...] = ()
    risk: Risk = "medium"
    rules: tuple[str, ...] = ()
    allowed_by: str = ""
    nested: bool = False
    dynamic: bool = False
    unworded: bool = False


class Assessment(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The result of the policy before any profile; `opaque` says that a part could not be read."""

    decision: Decision
    risk: Risk
    findings: tuple[Finding, ...]
    opaque: bool = False
    segments: tuple[Segment, ...] = ()

    @property
    def worst(self) -> Finding:
        """The first of the gravest findings."""
        return max(self.findings, key=lambda finding: severity(finding.risk))

    @property
    def decisive(self) -> Finding:
        """The first of the gravest findings that have the final decision."""
        deciding = [finding for finding in self.findings if finding.decision == self.decision]
        return max(deciding or self.findings, key=lambda finding: severity(finding.risk))

    @property
    def rule(self) -> str:
        """The id of the rule that decides the risk."""
        return self.worst.rule

    @property
    def reason(self) -> str:
        """One sentence for a person: why the call has this risk."""
        return self.worst.reason


def judge(findings: Iterable[Finding], *, allow: bool = False, opaque: bool = False) -> Assessment:
    """Returns the assessment that the findings add up to; at least one is needed.

    The gravest finding sets the risk. Only `allow` with nothing but low findings is an allow;
    everything else is asked.
    """
    all_findings = tuple(findings)
    risk = max((finding.risk for finding in all_findings), key=severity)
    harmless = allow and risk == "low" and not opaque
    return Assessment("allow" if harmless else "ask", risk, all_findings, opaque)

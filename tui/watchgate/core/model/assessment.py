"""The assessment of one tool call: a decision, a risk, and why.

- Visible findings: those that only repeat a graver or clearer one are left out. Records, grants and
  `--json` keep all of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Literal

import msgspec

from watchgate.core.base.text import Span

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


def visible_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Returns the findings that add something of their own, each once, in their order.

    A rule `X.unread` guesses at what rule `X` knows: it goes where X found as much in the same
    stretch, and rule `X` where a graver `X-y` says more. That no rule knows a command goes where a
    graver finding is about all of it.
    """
    all_findings = tuple(dict.fromkeys(findings))
    by_rule: dict[str, list[Finding]] = {}
    for each in all_findings:
        by_rule.setdefault(each.rule, []).append(each)
    plain = max((severity(each.risk) for each in by_rule.get(NO_RULE, ())), default=0)
    spans = [each.span for each in all_findings if each.span and severity(each.risk) > plain]
    covers = _Cover(spans)
    return tuple(
        each
        for each in all_findings
        if not (each.rule == NO_RULE and each.span and covers.all_of(each.span))
        and not any(_repeats(each, known) for known in by_rule.get(_known(each.rule), ()))
        and not any(_says_more(other, each) for other in all_findings)
    )


def _known(rule: str) -> str:
    """Returns the rule that an `.unread` one repeats for unsure texts; empty for others."""
    named, _, last = rule.rpartition(".")
    return named if last == "unread" else ""


def _says_more(other: Finding, each: Finding) -> bool:
    if not other.rule.startswith(f"{each.rule}-") or severity(other.risk) <= severity(each.risk):
        return False
    return other.span is not None and each.span is not None and _overlap(other.span, each.span)


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _repeats(guess: Finding, known: Finding) -> bool:
    if guess.span is None or known.span is None or severity(guess.risk) > severity(known.risk):
        return False
    return _overlap(guess.span, known.span)


class _Cover:
    """Index of spans that tells whether one of them covers another span."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        self._ends = list(accumulate((end for _, end in ordered), max))

    def all_of(self, span: tuple[int, int]) -> bool:
        """Returns whether one span of the index covers this one."""
        before = bisect_right(self._starts, span[0])
        return before > 0 and self._ends[before - 1] >= span[1]

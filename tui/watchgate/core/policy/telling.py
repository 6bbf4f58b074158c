"""Visible findings: those that only repeat a graver or clearer one are left out.

Records, grants and `--json` keep all of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from watchgate.core.policy.assessment import NO_RULE, Finding, severity
from watchgate.core.text import Span


def telling(findings: Iterable[Finding]) -> tuple[Finding, ...]:
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

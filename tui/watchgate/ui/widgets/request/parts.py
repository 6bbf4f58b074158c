"""A command in its numbered parts, as lines: a risk before each, carets and reasons below."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from watchgate.core.policy.assessment import Finding
from watchgate.core.policy.telling import telling
from watchgate.core.records import RequestData
from watchgate.core.text import Span
from watchgate.ui.theming.theme import RISK_RANK

_JOINS = re.compile(r"\s*(?:&&|\|\|?&?|;|&)?\s*$")


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the text (`start` to `end`), its risk, and the findings that begin in it.

    `joined` is where the operator begins that joins it to the next part. `number` is 0 where the
    text is of one piece.
    """

    start: int
    end: int
    joined: int
    number: int = 0
    risk: str = "low"
    findings: tuple[Finding, ...] = ()


def parts(data: RequestData, text: str) -> list[Part]:
    """Returns the parts of the text, which together are all of it."""
    starts: dict[int, int] = {}
    for segment in data.segments:
        at = min(segment.span[0], starts.get(segment.number, segment.span[0]))
        starts[segment.number] = at
    numbered = sorted((at, number) for number, at in starts.items() if at < len(text))
    if len(numbered) < 2:
        findings = tuple(f for f in telling(data.findings) if f.span or f.segment)
        risk = _worst([finding.risk for finding in findings])
        return [Part(start=0, end=len(text), joined=len(text), risk=risk, findings=findings)]
    edges = [0, *(at for at, _ in numbered[1:]), len(text)]
    risks: dict[int, list[str]] = {number: [] for _, number in numbered}
    for segment in data.segments:
        risks.get(segment.number, []).append(segment.risk)
    about = _about(data, edges, [number for _, number in numbered])
    return [
        _part(text, number, (edges[place], edges[place + 1]), risks[number], about[number])
        for place, (_, number) in enumerate(numbered)
    ]


def placed(parts: list[Part]) -> set[Finding]:
    """Returns the findings that stand with a part; the others are about the whole call."""
    return {finding for part in parts for finding in part.findings}


def _part(
    text: str, number: int, span: Span, risks: Sequence[str], findings: Sequence[Finding]
) -> Part:
    """Returns one numbered part.

    Args:
        text: The whole text.
        number: The part's number, from 1.
        span: Its start and end.
        risks: The risks of its commands.
        findings: The findings about it.
    """
    start, end = span
    joined = _JOINS.search(text, max(start, end - 40), end)
    return Part(
        start=start,
        end=end,
        joined=joined.start() if joined else end,
        number=number,
        risk=_worst([*risks, *(finding.risk for finding in findings)]),
        findings=tuple(findings),
    )


def _worst(risks: Sequence[str]) -> str:
    return max(risks, key=lambda risk: RISK_RANK.get(risk, 2), default="low")


def _about(
    data: RequestData, edges: Sequence[int], numbers: Sequence[int]
) -> dict[int, list[Finding]]:
    """Returns the findings of each part: those that begin in it, or are about all of it."""
    by_part: dict[int, list[Finding]] = {number: [] for number in numbers}
    for finding in telling(data.findings):
        if finding.span is None:
            if finding.segment in by_part:
                by_part[finding.segment].append(finding)
        elif finding.span[0] < edges[-1]:
            by_part[numbers[bisect_right(edges, finding.span[0]) - 1]].append(finding)
    return by_part

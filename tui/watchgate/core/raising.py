"""Calls that are graver than the rules for them say, for what came before them in the session."""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.core.events import Event
from watchgate.core.policy.assessment import Assessment, Finding, Risk
from watchgate.core.redact import redact
from watchgate.core.summary import summary

RETRY: Final = "policy.retry"
FLOW: Final = "policy.flow"
RAISING: Final = frozenset((RETRY, FLOW))
"""The rules of findings that raise a call; no rule file has them."""

_SHOWN_CHARS = 60
_READ_CHARS = 16_384
_NEXT: dict[Risk, Risk] = {
    "low": "medium",
    "medium": "high",
    "unknown": "high",
    "high": "critical",
    "critical": "critical",
}


def raised_by(rule: str, reason: str, assessment: Assessment) -> Assessment:
    """Returns the assessment one level up, with a finding that says why; no grant answers it."""
    finding = Finding(rule, f"One level higher: {reason}", _NEXT[assessment.risk], always_ask=True)
    return msgspec.structs.replace(
        assessment, decision="ask", risk=finding.risk, findings=(*assessment.findings, finding)
    )


def why_raised(assessment: Assessment) -> str:
    """Returns why the risk is above that of the rules, in words; empty where it is not."""
    return next((each.reason for each in assessment.findings if each.rule in RAISING), "")


def call_line(event: Event) -> str:
    """Returns a call in a few words, without its secrets, for a sentence about another one."""
    tool = event.tool
    text = summary(tool, event.cwd) if tool is not None else event.native
    # A secret that is cut is no longer known for one; behind so many characters none is shown.
    line = " ".join(redact(text[:_READ_CHARS]).split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[: _SHOWN_CHARS - 3]}..."


def ago(age_s: float) -> str:
    """Returns an age in a few words."""
    return f"{age_s:.0f} s ago" if age_s < 60 else f"{age_s / 60:.0f} min ago"

"""An assessment in JSON for scripts and in lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.core.model.assessment import visible_findings
from watchgate.core.policy.inputs.programs import plain_words

if TYPE_CHECKING:
    from watchgate.core.model.assessment import Assessment, Finding
    from watchgate.core.policy.rules.profiles import GateAction

_DOES: dict[GateAction, str] = {
    "record": "only recorded",
    "deny": "denied",
    "hold": "held for an operator",
    "handback": "left to the agent's own rules",
    "allow": "allowed by a rule",
}
_SHOWN_CHARS = 120


def as_json(assessment: Assessment) -> dict[str, Any]:
    """The line of `policy check --json`."""
    return {
        "decision": assessment.decision,
        "risk": assessment.risk,
        "findings": [
            {
                "rule": each.rule,
                "reason": each.reason,
                "span": each.span,
                "decision": each.decision,
                "risk": each.risk,
                "segment": each.segment,
                "suggest": each.suggest,
            }
            for each in assessment.findings
        ],
        "opaque": assessment.opaque,
        "segments": [
            msgspec.structs.replace(each, words=tuple(map(_encodable, each.words)))
            for each in assessment.segments
        ],
    }


def page(assessment: Assessment, text: str, does: str) -> Iterator[str]:
    """The same for a person: the word, then what was found and in which part."""
    yield f"{assessment.decision}  {assessment.risk}  {does}"
    yield from findings(assessment, text)


def findings(assessment: Assessment, text: str) -> Iterator[str]:
    """Writes the findings, and the parts of a compound command with what is said of each."""
    alike: dict[tuple[str, str, str], list[Finding]] = {}
    for each in visible_findings(assessment.findings):
        alike.setdefault((each.risk, each.rule, each.reason), []).append(each)
    for (risk, rule, reason), several in alike.items():
        each = several[0]
        yield f"  {risk:<8}  {rule}: {reason}{_where(several, text)}"
        if each.suggest:
            yield f"            safer: {each.suggest}"
    for words in plain_words(assessment.segments):
        yield f"            {words}"
    count = max((each.number for each in assessment.segments), default=0)
    if count > 1:
        for part in assessment.segments:
            inner = "  in it: " if part.nested else "  "
            why = part.allowed_by or ", ".join(part.rules)
            yield f"{inner}{part.number}/{count}  {part.risk:<8}  {_cut(_words(part, text))}  {why}"


def does_words(profile: str, action: GateAction) -> str:
    """Says in words what the gate does under a profile."""
    return f"under {profile} {_DOES[action]}"


def _where(findings: Sequence[Finding], text: str) -> str:
    """The parts of the text that findings are about, unless it is all of it."""
    spans = [finding.span for finding in findings]
    parts = [
        text[start:end] for start, end in filter(None, spans) if (start, end) != (0, len(text))
    ]
    return f"  <- {_cut('; '.join(filter(None, parts)))}" if any(parts) else ""


def _words(part: Any, text: str) -> str:
    return text[part.span[0] : part.span[1]] or " ".join(part.words)


def _encodable(word: str) -> str:
    """The word, or with visible escapes where it holds half a character, which JSON cannot."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return safe_text(word)
    return word


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."

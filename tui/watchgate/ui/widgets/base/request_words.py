"""A request in short: its chip, its reasons, what it touches, and whether it is too long."""

from __future__ import annotations

import msgspec

from watchgate.core.base.amounts import count
from watchgate.core.base.text import safe_text
from watchgate.core.model.assessment import visible_findings
from watchgate.core.model.records import RequestData
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.views import PendingView
from watchgate.core.secrets.secret_finder import secrets
from watchgate.core.tools.summary import shown_text
from watchgate.ui.base.formats import covered, person
from watchgate.ui.base.theme import RISK_GLYPH, RISK_RANK, RISK_TOKEN, Token
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_text import Piece, Row
from watchgate.ui.widgets.base.text_masking import count_secrets, masking_of

APPROVABLE_CHARS = 65_536
"""The longest text that is drawn to its end: a longer one is never allowed from a console."""

ASKED = "?"
"""Stands where a call's risk would."""

MINUTE_S = 60


def chip(line: StyledLine, risk: str) -> None:
    """Adds glyph and word of a risk; critical is filled."""
    words = f"{RISK_GLYPH.get(risk, '!!')} {safe_text(risk).upper()}"
    token = RISK_TOKEN.get(risk, "high")
    if risk == "critical":
        line.add(f" {words} ", "bg", on=token, bold=True)
    else:
        line.add(words, token, bold=risk not in ("low", "medium"))


def subject_chip(line: StyledLine, data: RequestData) -> None:
    """Adds the subject of a request: a call's risk, or that it is a question or a plan."""
    if data.asks == "approval":
        chip(line, data.risk)
    else:
        line.add(f"{ASKED} {data.asks.upper()}", "accent", bold=True)


def subject_token(data: RequestData) -> Token:
    """Returns the colour of a request's own bar; a question has no risk to show."""
    return RISK_TOKEN.get(data.risk, "high") if data.asks == "approval" else "accent"


def clause(reason: str) -> str:
    """Returns a reason as part of a sentence: a small first letter, but for abbreviations."""
    return reason[:1].lower() + reason[1:] if reason[1:2].islower() else reason


def reasons_of(data: RequestData) -> str:
    """Returns the reasons, the gravest first, each once, with the part that each is about."""
    graver = sorted(
        visible_findings(data.findings), key=lambda finding: -RISK_RANK.get(finding.risk, 2)
    )
    count = len({segment.number for segment in data.segments})
    of_rules = {finding.reason for finding in graver}
    reasons = [reason for reason in (data.raised, data.reason) if reason and reason not in of_rules]
    parts_of: dict[str, list[str]] = {clause(reason): [] for reason in reasons}
    first = [finding for finding in graver if finding.reason in (data.raised, data.reason)]
    for finding in dict.fromkeys([*first, *graver]):
        about = parts_of.setdefault(clause(finding.reason), [])
        part = f"{finding.segment}/{count}" if finding.segment and count > 1 else ""
        if part and part not in about:
            about.append(part)
    return covered(
        "; ".join(f"{', '.join(about)} {words}".lstrip() for words, about in parts_of.items())
    )


def safer_way(data: RequestData) -> str:
    """Returns the safer way that the gravest finding with one suggests."""
    graver = sorted(data.findings, key=lambda finding: -RISK_RANK.get(finding.risk, 2))
    return covered(next((finding.suggest for finding in graver if finding.suggest), ""))


def touched_row(view: PendingView) -> Row:
    """Returns the row of what a call would touch, with its part; lost for good is bold."""
    count = len({segment.number for segment in view.data.segments})
    words: list[Piece] = []
    part = None
    for fact in view.facts:
        if words:
            words.append(Piece(", "))
        if fact.segment and fact.segment != part and count > 1:
            words.append(Piece(f"{fact.segment}/{count} ", "dim"))
        part = fact.segment
        words.append(Piece(covered(fact.text), marked=fact.grave))
    if view.cut:
        words.append(Piece("  not everything was looked at" if words else "not known", "dim"))
    return tuple(words)


def approval_history(session: SessionView | None) -> str:
    """Returns the hint that tells how the session's requests were answered so far."""
    if session is None or not session.answered or session.median_s is None:
        return ""
    of = f"{count(session.allowed)} of {count(session.answered)}"
    seconds = session.median_s
    took = f"{seconds:.1f} s" if seconds < MINUTE_S else person(seconds)
    return f"you approved {of}, median {took}"


def secret_count(data: RequestData) -> int:
    """Counts the secrets in the text that is decided about, or else in its input."""
    text = shown_text(data.tool, data.summary)
    own = count_secrets(text[:APPROVABLE_CHARS], masking_of(data, bare=False))
    return own or len(
        secrets(msgspec.json.encode(data.tool.input)[:APPROVABLE_CHARS].decode(errors="replace"))
    )


def too_long(data: RequestData) -> bool:
    """Returns whether it is too long for anybody to be shown all of it."""
    if len(shown_text(data.tool, data.summary)) > APPROVABLE_CHARS:
        return True
    return len(msgspec.json.encode(data.tool.input)) > APPROVABLE_CHARS

"""What a request says about itself in short: its chip, its reasons, and the rest of its input."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from watchgate.core.records import RequestData
from watchgate.core.text import safe_text
from watchgate.ui.formats import count
from watchgate.ui.palettes import Token
from watchgate.ui.theme import RISK_GLYPH, RISK_RANK, RISK_TOKEN
from watchgate.ui.widgets.command_text import shown_text
from watchgate.ui.widgets.pane import Line

APPROVABLE_CHARS = 65_536
"""What is longer than this is never drawn to its end, and so never allowed from a console."""

ASKED = "?"
"""Stands where a call's risk would."""

_SHORT = 200
_SAYS_NOTHING = ("description", "timeout", "timeout_ms")


def chip(line: Line, risk: str) -> None:
    """Glyph and word of a risk; critical is filled."""
    words = f"{RISK_GLYPH.get(risk, '!!')} {safe_text(risk).upper()}"
    token = RISK_TOKEN.get(risk, "high")
    if risk == "critical":
        line.add(f" {words} ", "bg", on=token, bold=True)
    else:
        line.add(words, token, bold=risk not in ("low", "medium"))


def subject_chip(line: Line, data: RequestData) -> None:
    """What is asked of the operator: a call's risk, or that it is a question or a plan."""
    if data.asks == "approval":
        chip(line, data.risk)
    else:
        line.add(f"{ASKED} {data.asks.upper()}", "accent", bold=True)


def subject_token(data: RequestData) -> Token:
    """The colour of a request's own bar; what is only asked has no risk to show."""
    return RISK_TOKEN.get(data.risk, "high") if data.asks == "approval" else "accent"


def clause(reason: str) -> str:
    """A reason as a part of a sentence: it begins small, unless it begins with an abbreviation."""
    return reason[:1].lower() + reason[1:] if reason[1:2].islower() else reason


def why(data: RequestData) -> str:
    """The reasons, the gravest first, each once."""
    graver = sorted(data.findings, key=lambda finding: -RISK_RANK.get(finding.risk, 2))
    reasons = dict.fromkeys([data.reason, *(finding.reason for finding in graver)])
    return safe_text("; ".join(clause(reason) for reason in reasons if reason))


class Rest(msgspec.Struct, frozen=True):
    """The input that the shown text does not tell, in one line; `whole` when it is all there."""

    text: str
    whole: bool


@lru_cache(maxsize=32)
def _rest(raw: bytes, shown: str, shell: bool) -> Rest:
    parts: list[str] = []
    whole = True
    for name, value in msgspec.json.decode(raw, type=dict[str, msgspec.Raw]).items():
        text = bytes(value)
        if name in _SAYS_NOTHING or (shell and name == "command"):
            continue
        if text.startswith(b'"') and msgspec.json.decode(text, type=str) in shown:
            continue
        if len(text) > _SHORT:
            parts.append(f"{name}: {count(len(text))} bytes")
            whole = False
        else:
            parts.append(f"{name}={text.decode()}")
    return Rest(safe_text("  ".join(parts)), whole)


def rest(data: RequestData) -> Rest:
    """What else the tool was given."""
    if data.asks == "question":
        return Rest("", whole=True)  # its questions are drawn from what was read of the input
    shown = shown_text(data.tool, data.summary)
    return _rest(msgspec.json.encode(data.tool.input), shown, data.tool.cls == "shell")


def too_long(data: RequestData) -> bool:
    """Whether nobody could be shown all of it."""
    if len(shown_text(data.tool, data.summary)) > APPROVABLE_CHARS:
        return True
    return len(msgspec.json.encode(data.tool.input)) > APPROVABLE_CHARS

"""A request in short: its chip, its reasons, its countdown, and the rest of its input."""

from __future__ import annotations

import math

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.amounts import count
from watchgate.core.base.text import safe_text
from watchgate.core.model.assessment import visible_findings
from watchgate.core.model.events import Tool, ToolClass
from watchgate.core.model.records import RequestData
from watchgate.core.model.views import PendingView, SessionView
from watchgate.core.secrets.secret_finder import secrets
from watchgate.core.tools import tool_input
from watchgate.core.tools.summary import shown_text, summary, uncut_fields
from watchgate.ui.base.ascii_only import remembered, spelled
from watchgate.ui.base.formats import covered, person
from watchgate.ui.base.theme import RISK_GLYPH, RISK_RANK, RISK_TOKEN, Token
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_text import Piece, Row
from watchgate.ui.widgets.base.text_masking import count_secrets, masking_of

BAR_LEFT = "━"
BAR_GONE = "─"
LAST_S = 10


def filled_cells(left_s: float, total_s: float, cells: int) -> int:
    """Returns the cells of the bar that are left; at least one while any time is."""
    if total_s <= 0 or left_s <= 0:
        return 0
    return min(cells, math.ceil(cells * left_s / total_s))


def is_hurried(left_s: float | None) -> bool:
    """Returns whether the last seconds run."""
    return left_s is not None and left_s <= LAST_S


def words_right(line: StyledLine, words: str, left_s: float | None) -> None:
    """Puts the words at the right end, reversed in the last seconds."""
    if is_hurried(left_s):
        line.right(words, line.ground, on="fg", bold=True)
    else:
        line.right(words, bold=True)


def words_left(line: StyledLine, words: str, left_s: float | None) -> None:
    """Puts the words into the left part, reversed in the last seconds."""
    line.add(words, bold=True, reverse=is_hurried(left_s))


def countdown_bar(left_s: float, total_s: float, cells: int) -> list[tuple[str, Token]]:
    """Returns the bar's two stretches, what is left and what is gone."""
    left = filled_cells(left_s, total_s, cells)
    return [(BAR_LEFT * left, "fg"), (BAR_GONE * (cells - left), "faint")]


APPROVABLE_CHARS = 65_536
"""What is longer than this is never drawn to its end, and so never allowed from a console."""

ASKED = "?"
"""Stands where a call's risk would."""

MINUTE_S = 60
_SHORT = 200
_SHOWN_FIELDS: dict[ToolClass, tuple[str, ...]] = {
    "fetch": ("url", "uri", "query"),
    "agent": ("description",),
    "plan": ("plan",),
}
"""The field of a tool's input that the text of its call may be."""

_SAYS_NOTHING = ("description", "timeout", "timeout_ms")
"""Fields that change nothing of a shell command; another tool may be given nothing else."""


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
    """Returns what the call would touch, bold what would be lost for good, with its part."""
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
    """Returns how the session's requests were answered so far, as a hint without effect."""
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


class RemainingInput(msgspec.Struct, frozen=True):
    """The input that the shown text leaves out, in one line; `whole` when nothing is missing."""

    text: str
    whole: bool


def _fields_of_command(tool: Tool) -> frozenset[str]:
    """Returns the fields that the command shows whole; none that sets more than words."""
    if tool_input.command(tool) is None:
        return frozenset()
    given = {name: tool.input[name] for name in tool_input.COMMANDS & tool.input.keys()}
    words = {name: value if isinstance(value, list) else [value] for name, value in given.items()}
    return frozenset(
        name for name, each in words.items() if all(isinstance(word, str) for word in each)
    )


def _shown_fields(tool: Tool, shown: str) -> frozenset[str]:
    """Returns the fields of the input of which the shown text leaves nothing out.

    Words that only happen to stand in that text as well show nothing of their field.
    """
    given = {name: value for name, value in tool.input.items() if isinstance(value, str)}
    if tool.cls == "shell":
        idle = {name for name, value in given.items() if not value}
        return _fields_of_command(tool).union(idle, _SAYS_NOTHING)
    if tool.cls in ("edit", "read"):
        named = (*tool_input.PATH_KEYS, *(("pattern",) if tool.cls == "read" else ()))
        return frozenset(
            name for name, value in given.items() if not value or (name in named and value in shown)
        )
    if tool.cls in ("mcp", "other"):
        return uncut_fields(tool) if shown == summary(tool) else frozenset()
    own = _SHOWN_FIELDS.get(tool.cls, ())
    return frozenset(name for name in own if given.get(name) == shown)


@remembered(maxsize=32)
def _rest(raw: bytes, shown_fields: frozenset[str], bare: bool) -> RemainingInput:
    parts: list[str] = []
    whole = True
    for name, value in decoding.decode(raw, dict[str, msgspec.Raw]).items():
        text = bytes(value)
        if name in shown_fields:
            continue
        if len(text) > _SHORT:
            parts.append(f"{name}: {count(len(text))} bytes")
            whole = False
        else:
            parts.append(f"{name}={text.decode()}")
    line = "  ".join(parts)
    return RemainingInput(spelled(safe_text(line)) if bare else covered(line), whole)


def remaining_input(data: RequestData, *, bare: bool = False) -> RemainingInput:
    """Returns the rest of the tool's input."""
    if data.asks == "question":
        return RemainingInput(
            "", whole=True
        )  # its questions are drawn from what was read of the input
    shown = shown_text(data.tool, data.summary)
    return _rest(msgspec.json.encode(data.tool.input), _shown_fields(data.tool, shown), bare)


def too_long(data: RequestData) -> bool:
    """Returns whether it is too long for anybody to be shown all of it."""
    if len(shown_text(data.tool, data.summary)) > APPROVABLE_CHARS:
        return True
    return len(msgspec.json.encode(data.tool.input)) > APPROVABLE_CHARS

"""What a request says about itself in short: its chip, its reasons, and the rest of its input."""

from __future__ import annotations

import msgspec

from watchgate.core import decoding, tool_input
from watchgate.core.amounts import count
from watchgate.core.events import Tool, ToolClass
from watchgate.core.policy.telling import telling
from watchgate.core.records import RequestData
from watchgate.core.secrets.finding import secrets
from watchgate.core.summary import summary, uncut_fields
from watchgate.core.text import safe_text
from watchgate.core.views import PendingView, SessionView
from watchgate.ui.covered import covered
from watchgate.ui.formats import person
from watchgate.ui.theming.ascii_only import remembered, spelled
from watchgate.ui.theming.palettes import Token
from watchgate.ui.theming.theme import RISK_GLYPH, RISK_RANK, RISK_TOKEN
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.request.command_text import Piece, Row, shown_text
from watchgate.ui.widgets.shown import covers, look

APPROVABLE_CHARS = 65_536
"""What is longer than this is never drawn to its end, and so never allowed from a console."""

ASKED = "?"
"""Stands where a call's risk would."""

MINUTE_S = 60
_SHORT = 200
_TOLD_IN: dict[ToolClass, tuple[str, ...]] = {
    "fetch": ("url", "uri", "query"),
    "agent": ("description",),
    "plan": ("plan",),
}
"""The field of a tool's input that the text of its call may be."""

_SAYS_NOTHING = ("description", "timeout", "timeout_ms")
"""What changes nothing of what a shell command does; to any other tool it may be all it is told."""


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
    """The reasons, the gravest first, each once; with the part that each is about."""
    graver = sorted(telling(data.findings), key=lambda finding: -RISK_RANK.get(finding.risk, 2))
    count = len({segment.number for segment in data.segments})
    told = {finding.reason for finding in graver}
    reasons = [reason for reason in (data.raised, data.reason) if reason and reason not in told]
    said: dict[str, list[str]] = {clause(reason): [] for reason in reasons}
    first = [finding for finding in graver if finding.reason in (data.raised, data.reason)]
    for finding in dict.fromkeys([*first, *graver]):
        about = said.setdefault(clause(finding.reason), [])
        part = f"{finding.segment}/{count}" if finding.segment and count > 1 else ""
        if part and part not in about:
            about.append(part)
    return covered(
        "; ".join(f"{', '.join(about)} {words}".lstrip() for words, about in said.items())
    )


def safer(data: RequestData) -> str:
    """The safer way that the gravest finding with one suggests."""
    graver = sorted(data.findings, key=lambda finding: -RISK_RANK.get(finding.risk, 2))
    return covered(next((finding.suggest for finding in graver if finding.suggest), ""))


def touched(view: PendingView) -> Row:
    """What the call would touch, what would be lost for good bold; with the part it is about."""
    count = len({segment.number for segment in view.data.segments})
    said: list[Piece] = []
    part = None
    for fact in view.facts:
        if said:
            said.append(Piece(", "))
        if fact.segment and fact.segment != part and count > 1:
            said.append(Piece(f"{fact.segment}/{count} ", "dim"))
        part = fact.segment
        said.append(Piece(covered(fact.text), marked=fact.grave))
    if view.cut:
        said.append(Piece("  not everything was looked at" if said else "not known", "dim"))
    return tuple(said)


def approved(session: SessionView | None) -> str:
    """How the session's requests were answered so far: a calm hint, nothing hangs on it."""
    if session is None or not session.answered or session.median_s is None:
        return ""
    of = f"{count(session.allowed)} of {count(session.answered)}"
    seconds = session.median_s
    took = f"{seconds:.1f} s" if seconds < MINUTE_S else person(seconds)
    return f"you approved {of}, median {took}"


def secrets_of(data: RequestData) -> int:
    """How many secrets are in the text that is decided about, or else in its input."""
    text = shown_text(data.tool, data.summary)
    own = covers(text[:APPROVABLE_CHARS], look(data, bare=False))
    return own or len(
        secrets(msgspec.json.encode(data.tool.input)[:APPROVABLE_CHARS].decode(errors="replace"))
    )


class Rest(msgspec.Struct, frozen=True):
    """The input that the shown text does not tell, in one line; `whole` when it is all there."""

    text: str
    whole: bool


def _told_by_command(tool: Tool) -> frozenset[str]:
    """The fields that the command tells whole; one that sets more than words is not among them."""
    if tool_input.command(tool) is None:
        return frozenset()
    given = {name: tool.input[name] for name in tool_input.COMMANDS & tool.input.keys()}
    words = {name: value if isinstance(value, list) else [value] for name, value in given.items()}
    return frozenset(
        name for name, each in words.items() if all(isinstance(word, str) for word in each)
    )


def _told(tool: Tool, shown: str) -> frozenset[str]:
    """The fields of the input of which the shown text leaves nothing out.

    Words that only happen to stand in that text as well tell nothing of their field.
    """
    given = {name: value for name, value in tool.input.items() if isinstance(value, str)}
    if tool.cls == "shell":
        idle = {name for name, value in given.items() if not value}
        return _told_by_command(tool).union(idle, _SAYS_NOTHING)
    if tool.cls in ("edit", "read"):
        named = (*tool_input.PATH_KEYS, *(("pattern",) if tool.cls == "read" else ()))
        return frozenset(
            name for name, value in given.items() if not value or (name in named and value in shown)
        )
    if tool.cls in ("mcp", "other"):
        return uncut_fields(tool) if shown == summary(tool) else frozenset()
    own = _TOLD_IN.get(tool.cls, ())
    return frozenset(name for name in own if given.get(name) == shown)


@remembered(maxsize=32)
def _rest(raw: bytes, told_in_text: frozenset[str], bare: bool) -> Rest:
    parts: list[str] = []
    whole = True
    for name, value in decoding.decode(raw, dict[str, msgspec.Raw]).items():
        text = bytes(value)
        if name in told_in_text:
            continue
        if len(text) > _SHORT:
            parts.append(f"{name}: {count(len(text))} bytes")
            whole = False
        else:
            parts.append(f"{name}={text.decode()}")
    told = "  ".join(parts)
    return Rest(spelled(safe_text(told)) if bare else covered(told), whole)


def rest(data: RequestData, *, bare: bool = False) -> Rest:
    """What else the tool was given."""
    if data.asks == "question":
        return Rest("", whole=True)  # its questions are drawn from what was read of the input
    shown = shown_text(data.tool, data.summary)
    return _rest(msgspec.json.encode(data.tool.input), _told(data.tool, shown), bare)


def too_long(data: RequestData) -> bool:
    """Whether nobody could be shown all of it."""
    if len(shown_text(data.tool, data.summary)) > APPROVABLE_CHARS:
        return True
    return len(msgspec.json.encode(data.tool.input)) > APPROVABLE_CHARS

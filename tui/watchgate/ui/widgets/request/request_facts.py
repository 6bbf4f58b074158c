"""The facts about a request besides its text: folder, session, rule, batch, other people."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.base.amounts import plural
from watchgate.core.base.text import safe_text
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import EscalatedData, RequestData
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.views import PendingView
from watchgate.core.state.asked_call import columns_of
from watchgate.ui.approval.consequences import after_allow, after_handback
from watchgate.ui.base.formats import home, machine, person
from watchgate.ui.base.theme import Token
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.request_text import Piece, pieces, wrap
from watchgate.ui.widgets.base.request_words import approval_history, touched_row
from watchgate.ui.widgets.base.sheet import VALUES, Sheet

BATCH_SHOWN = 3
_AFTER = {"approval": "after allow", "question": "after answer", "plan": "if approved"}
_GATE = {
    "": "no opinion",
    "+": "allowed by an operator",
    "=": "by a rule or grant",
    "~": "answered in the agent",
}
"""The gate's decision on a call, where the word for its stage does not say so."""

DIGEST_CHARS = 12
_TOOL = 40
_SUMMARY = 160
_WRITTEN = 400


class RequestContext(msgspec.Struct, frozen=True, kw_only=True):
    """The state's facts about a request; its `batch` are the calls made together with it."""

    session: SessionView | None = None
    profile: str = ""
    batch: tuple[CallRow, ...] = ()


def draw_facts(sheet: Sheet, view: PendingView, known: RequestContext) -> None:
    """Writes the facts; the list is shorter where the payload is shown elsewhere."""
    data, short = view.data, bool(sheet.payload)
    sheet.section("facts")
    if data.asks == "approval" and (view.facts or view.cut):
        _fact(sheet, "would touch", touched_row(view))
    sheet.fact("cwd", home(data.cwd, sheet.home_dir))
    _fact(sheet, "session", _session(view, known.session, short=short))
    if data.sub is not None:
        sheet.fact("sub-agent", f"{data.sub.type} {data.sub.id}".strip())
    if not short:
        sheet.fact("mode", data.mode or "")
        sheet.fact("lane", f"{data.lane}, {data.native}")
    sheet.fact("asked by", f"pid {data.agent_pid}" if data.agent_pid else "")
    if data.asks == "approval" and data.rule:
        _fact(sheet, "held by", [*pieces(data.rule), *_dim(_holds(data, known.profile))])
    _batch(sheet, known.batch)
    _wrote(sheet, data)
    if not short:
        sheet.fact("digest", f"sha256 {data.digest[:DIGEST_CHARS]}...")
    sheet.fact(_AFTER[data.asks], after_allow(data, view.agent))
    if data.runs_unasked:
        sheet.fact(f"after {key_for('handback')}", after_handback(data, view.agent), bold=True)
    for number, each in enumerate(view.escalated):
        _fact(sheet, "told" if number == 0 else "", _escalated(each))
    sheet.fact("so far", approval_history(known.session) if data.asks == "approval" else "")


def _fact(sheet: Sheet, label: str, words: Iterable[Piece]) -> None:
    sheet.stated(label, wrap(words, sheet.cells - VALUES - 1))


def _session(view: PendingView, session: SessionView | None, *, short: bool) -> list[Piece]:
    """Returns the words for the asking session; a mode that asks nobody stands out."""
    words = [*pieces(f"{view.label}  {view.agent}")]
    model = f"  {session.model}" if session and session.model else ""
    words += _inked(pieces(f"{'' if short else f'  {view.session}'}{model}"), "dim")
    if session is not None and session.calls:
        words += _dim(plural(session.calls, "call"))
    if short and view.data.mode:
        loud = session is not None and session.autonomous
        mode = _inked(pieces(f"{view.data.mode} mode"), "fg" if loud else "dim")
        words += [Piece("   "), *(msgspec.structs.replace(each, marked=loud) for each in mode)]
    return words


def _escalated(escalation: EscalatedData) -> list[Piece]:
    """Returns the words for who else was notified, and after how long; or why not."""
    if escalation.detail:
        return [*pieces(f"{escalation.to} could not be told"), *_dim(safe_text(escalation.detail))]
    return [*pieces(escalation.to), *_dim(f"after {person(escalation.waited_s)}")]


def _holds(data: RequestData, profile: str) -> str:
    """Returns the reason the profile in force asks somebody about this."""
    if profile == "guard" and data.risk in ("high", "critical"):
        return "guard holds HIGH and CRITICAL"
    return "strict holds what no rule allows" if profile == "strict" else ""


def _batch(sheet: Sheet, batch: tuple[CallRow, ...]) -> None:
    """Writes the calls that the agent made together with this one, and the outcome of each."""
    for number, row in enumerate(batch[:BATCH_SHOWN]):
        tool, call = columns_of(row, _TOOL)
        words = [*pieces(f"{tool[:_TOOL]}  {call[:_SUMMARY]}"), *_dim(_became(row))]
        _fact(sheet, "same batch" if number == 0 else "", words)
    if len(batch) > BATCH_SHOWN:
        more = f"{plural(len(batch) - BATCH_SHOWN, 'call')} more at the same moment"
        sheet.line().to(VALUES).add(more, "dim")


def _became(row: CallRow) -> str:
    took = f" in {machine(row.took_ms)}" if row.took_ms is not None else ""
    return ", ".join(filter(None, (_GATE.get(row.glyph), f"{safe_text(row.stage)}{took}")))


def _wrote(sheet: Sheet, data: RequestData) -> None:
    """Writes what the agent says that its call is for: its own words, which nothing confirms."""
    words = data.tool.input.get("description")
    if data.tool.cls in ("mcp", "other"):
        return  # there it may be all that the tool is given, and stands with the rest of the input
    if data.asks == "approval" and isinstance(words, str) and words.strip():
        more = "..." if len(words) > _WRITTEN else ""
        _fact(sheet, "agent wrote", _inked(pieces(f'"{words[:_WRITTEN]}"{more}'), "dim"))


def _dim(words: str) -> list[Piece]:
    """Returns words of ours set apart from what precedes them; none without any."""
    return [Piece("   "), Piece(words, "dim")] if words else []


def _inked(words: Iterable[Piece], ink: Token) -> list[Piece]:
    return [msgspec.structs.replace(each, ink=ink) if each.ink == "fg" else each for each in words]

"""A request or a call in full, as lines: all that was sent, and all that is known about it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from watchgate.core.policy.assessment import Finding
from watchgate.core.policy.telling import telling
from watchgate.core.records import RequestData
from watchgate.core.redact import redact_all
from watchgate.core.text import safe_text
from watchgate.core.typed_answers import how
from watchgate.core.views import PendingView, SessionView
from watchgate.ui.consequences import (
    after_allow,
    after_handback,
    after_silence,
    seconds_left,
    silence,
)
from watchgate.ui.formats import count, home, plural, short_id
from watchgate.ui.palettes import Palette
from watchgate.ui.theme import RISK_RANK
from watchgate.ui.widgets.changes import changes, draw_changes, rewritten
from watchgate.ui.widgets.command_text import Piece, lay_out, pieces, plain, shown_text, wrap
from watchgate.ui.widgets.countdown import bar, words_left
from watchgate.ui.widgets.detail_sheet import INDENT, VALUES, Sheet
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.part_lines import draw_finding, draw_parts
from watchgate.ui.widgets.parts import parts, placed
from watchgate.ui.widgets.question_rows import lead, plan_rows, question_rows
from watchgate.ui.widgets.request_words import (
    APPROVABLE_CHARS,
    approved,
    clause,
    rest,
    secrets_of,
    subject_chip,
    too_long,
    touched,
)
from watchgate.ui.widgets.shown import look

_AFTER = {"approval": "after allow", "question": "after answer", "plan": "if approved"}
DRAWN_PARTS = 200
LONGEST_BAR = 24
SHORTEST_BAR = 6


def live_lines(
    view: PendingView, now_us: int, cells: int, colors: Palette, place: str = ""
) -> list[Line]:
    """The lines that change with time: who asks, at which place, and what silence does when.

    Where they do not fit, each gets a second line: nothing of them is cut.
    """
    data = view.data
    head = Line(colors).to(INDENT)
    subject_chip(head, data)
    who = Line(colors).add(f"{safe_text(data.tool.name[:60])}   ")
    who.add(safe_text(view.label[:60]), bold=True)
    who.add(f"  {safe_text(view.agent[:20])}   {short_id(view.id)}", "dim")
    left_s = seconds_left(data, now_us)
    words = Line(colors).to(INDENT)
    words_left(words, silence(data, view.agent, left_s, whole=True), left_s)
    after = Line(colors).add(after_silence(data, view.agent), "dim")
    beside = cells - words.left_cells - after.left_cells - 7
    room = beside if beside >= SHORTEST_BAR else cells - words.left_cells - 4
    if left_s is not None and room >= SHORTEST_BAR:
        words.add("   ")
        for stretch, ink in bar(left_s, data.timeout_s, min(LONGEST_BAR, room)):
            words.add(stretch, ink)
    heads = _beside(head, who, cells, colors)
    if place and heads[0].left_cells + len(place) + 3 <= cells:
        heads[0].right(f"{place} ", "dim")
    return [*heads, *_beside(words, after, cells, colors)]


def _beside(left: Line, more: Line, cells: int, colors: Palette) -> list[Line]:
    if left.left_cells + 3 + more.left_cells < cells:
        return [left.add("   ").join(more)]
    return [left, Line(colors).to(INDENT).join(more)]


def request_lines(view: PendingView, session: SessionView | None, sheet: Sheet) -> list[Line]:
    """All of a request below its live lines, on this sheet."""
    data = view.data
    told: set[Finding] = set()
    if data.asks == "question":
        _questions(sheet, data)
    elif data.asks == "plan":
        text = shown_text(data.tool, data.summary)
        rows = plan_rows(text[:APPROVABLE_CHARS], sheet.room, air=True)
        sheet.section("plan", _size(len(rows), text))
        sheet.rows(rows)
    else:
        told = _call(sheet, data)
        _rewritten(sheet, data)
        _changes(sheet, data)
        _why(sheet, data, told)
    _facts(sheet, view, session)
    if data.asks == "approval":
        _input(sheet, data)
    if too_long(data):
        sheet.section("too long to be shown to its end, so it can only be denied")
    return sheet.lines


def _questions(sheet: Sheet, data: RequestData) -> None:
    cells = sheet.room
    if said := lead(data):
        sheet.section("form")
        sheet.rows(wrap(pieces(said), cells, lines=True))
    for number, question in enumerate(data.questions, 1):
        count = f" {number} of {len(data.questions)}" if len(data.questions) > 1 else ""
        sheet.section(f"question{count}", safe_text(question.header[:40]))
        sheet.rows(question_rows(question, cells))
        sheet.rows(wrap([Piece(f"answer: {how(question)}", "dim")], cells))


def _size(rows: int, text: str) -> str:
    return f"{plural(rows, 'line')}, {plural(len(text), 'character')}"


def _call(sheet: Sheet, data: RequestData) -> set[Finding]:
    """The call's own text with its marks; returns the findings that are told beside it."""
    text = shown_text(data.tool, data.summary)
    kept, how = text[:APPROVABLE_CHARS], look(data, bare=sheet.how.bare)
    drawn = Sheet(sheet.cells, sheet.colors, sheet.home_dir)
    shell = data.tool.cls == "shell"
    found = parts(data, kept) if shell else []
    count = len(found)
    if max(count, len(data.findings)) > DRAWN_PARTS:
        found = []  # nobody reads so many one by one, and drawing them takes seconds
    if found:
        lines = draw_parts(drawn, kept, found, how)
    else:
        rows = lay_out(kept, data.findings, sheet.room, lines=True, how=how)
        drawn.rows(rows)
        lines = len(rows)
    size = f"{plural(count, 'part')}, " if count > 1 else ""
    sheet.section("command" if shell else "call", size + _size(lines, text))
    sheet.lines += drawn.lines
    _secrets(sheet, secrets_of(data))
    return placed(found)


def _secrets(sheet: Sheet, number: int) -> None:
    """How many secrets are covered, or told, and the key for the other."""
    if not number:
        return
    bare = sheet.how.bare
    line = sheet.line().add(f"{plural(number, 'secret')} {'told' if bare else 'covered'}   ", "dim")
    line.add(sheet.reveal, "accent", bold=True)
    line.add(f" {'covers' if bare else 'shows'} {'it' if number == 1 else 'them'}", "dim")


def _rewritten(sheet: Sheet, data: RequestData) -> None:
    """What became of the input that the agent sent, where that is not what would run."""
    if data.before is None:
        return
    found = rewritten(data, bare=sheet.how.bare)
    whose = f"you edited {short_id(data.edited_from)}" if data.edited_from else "not as it was sent"
    sheet.section(f"rewritten: {whose}", "- sent   + would run")
    sheet.lines.extend(draw_changes(found, sheet.cells, sheet.colors, sheet.how))


def _changes(sheet: Sheet, data: RequestData) -> None:
    found = changes(data.tool, bare=sheet.how.bare)
    if found:
        added = sum(sign == "+" for sign, _ in found)
        removed = sum(sign == "-" for sign, _ in found)
        sheet.section("changes", f"+{added} -{removed}")
        sheet.lines.extend(draw_changes(found, sheet.cells, sheet.colors, sheet.how))


def _why(sheet: Sheet, data: RequestData, told: set[Finding]) -> None:
    """What was not said beside the text: why somebody asks, and what is about the whole call."""
    about = [finding for finding in telling(data.findings) if finding not in told]
    reasons = {finding.reason for finding in data.findings}
    own = data.reason if data.reason not in reasons else ""
    raised = data.raised if data.raised not in reasons else ""
    if not (about or own or raised):
        return
    sheet.section("why")
    for text in (own, raised):
        if text:
            sheet.rows(plain(clause(text), sheet.room))
    alike = {(each.rule, each.reason): each for each in reversed(about)}
    for finding in sorted(alike.values(), key=lambda f: -RISK_RANK.get(f.risk, 2)):
        draw_finding(sheet, finding, INDENT)


def _facts(sheet: Sheet, view: PendingView, session: SessionView | None) -> None:
    data = view.data
    sheet.section("facts")
    if data.asks == "approval" and (view.facts or view.cut):
        sheet.stated("would touch", wrap(touched(view), sheet.cells - VALUES - 1))
    model = f"  {session.model}" if session and session.model else ""
    sheet.fact("session", f"{view.label}  {view.agent}  {view.session}{model}")
    if data.sub is not None:
        sheet.fact("sub-agent", f"{data.sub.type} {data.sub.id}".strip())
    sheet.fact("cwd", home(data.cwd, sheet.home_dir))
    sheet.fact("mode", data.mode or "")
    sheet.fact("lane", f"{data.lane}, {data.native}")
    sheet.fact("asked by", f"pid {data.agent_pid}" if data.agent_pid else "")
    sheet.fact("held by", data.rule if data.asks == "approval" else "")
    sheet.fact("digest", f"sha256 {data.digest[:12]}...")
    if data.asks == "plan":
        sheet.fact("input", rest(data, bare=sheet.how.bare).text)
    sheet.fact(_AFTER[data.asks], after_allow(data, view.agent))
    if data.runs_unasked:
        sheet.fact("after b", after_handback(data, view.agent), bold=True)
    sheet.fact("so far", approved(session) if data.asks == "approval" else "")


def _input(sheet: Sheet, data: RequestData) -> None:
    raw = msgspec.json.encode(data.tool.input)
    sheet.section("input", f"{data.tool.native_name}, {count(len(raw))} bytes")
    if len(raw) <= APPROVABLE_CHARS and not sheet.how.bare:
        raw = msgspec.json.encode(redact_all(data.tool.input))
    for text in _json_lines(raw):
        sheet.rows(plain(text, sheet.room, sheet.how))
    if len(raw) > APPROVABLE_CHARS:
        sheet.line().add(f"... {count(len(raw) - APPROVABLE_CHARS)} bytes more", "dim")


def _json_lines(raw: bytes) -> Iterator[str]:
    if len(raw) <= APPROVABLE_CHARS:
        yield from msgspec.json.format(raw, indent=2).decode().split("\n")
    else:
        yield raw[:APPROVABLE_CHARS].decode(errors="replace")

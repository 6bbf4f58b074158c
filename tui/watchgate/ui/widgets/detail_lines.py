"""A request or a call in full, as lines: all that was sent, and all that is known about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from watchgate.core.records import RequestData
from watchgate.core.text import safe_text
from watchgate.core.typed_answers import how
from watchgate.core.views import CallRow, PendingView, SessionView
from watchgate.ui.consequences import (
    after_allow,
    after_handback,
    after_silence,
    seconds_left,
    silence,
)
from watchgate.ui.formats import clock, count, home, plural, short_id
from watchgate.ui.palettes import Palette
from watchgate.ui.theme import RISK_GLYPH, RISK_RANK, RISK_TOKEN
from watchgate.ui.widgets.changes import changes, draw_changes
from watchgate.ui.widgets.command_text import (
    Piece,
    Row,
    lay_out,
    pieces,
    plain,
    shown_text,
    wrap,
)
from watchgate.ui.widgets.countdown import bar, words_left
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.question_rows import lead, plan_rows, question_rows
from watchgate.ui.widgets.request_words import (
    APPROVABLE_CHARS,
    chip,
    clause,
    rest,
    subject_chip,
    too_long,
)
from watchgate.ui.widgets.ring_columns import elapsed

INDENT = 2
VALUES = 15
_SUBJECTS: dict[str, str] = {"shell": "command", "plan": "plan"}
_AFTER = {"approval": "after allow", "question": "after answer", "plan": "if approved"}
LONGEST_BAR = 24
SHORTEST_BAR = 6


class Sheet:
    """Lines in the making, all at one width and in one palette.

    `air` says how plenty rows are: 1 sets titles apart from what is below them, 2 sections from
    each other.
    """

    def __init__(self, cells: int, colors: Palette, home_dir: str = "", *, air: int = 0) -> None:
        self.cells, self.colors, self.home_dir, self.air = cells, colors, home_dir, air
        self.lines: list[Line] = []

    def line(self) -> Line:
        """A new line, added and indented."""
        line = Line(self.colors).to(INDENT)
        self.lines.append(line)
        return line

    def gap(self) -> None:
        """An empty line."""
        self.line()

    def section(self, name: str, aside: str = "") -> None:
        """A section's title, with what can be said about its size."""
        self.gap()
        if self.air > 1:
            self.gap()
        line = self.line().add(name, "dim")
        if aside:
            line.right(f"{aside} ", "dim")
        if self.air:
            self.gap()

    def rows(self, rows: Iterable[Row], column: int = INDENT) -> None:
        """Rows of text, each on a line of its own."""
        for row in rows:
            line = self.line().to(column)
            for piece in row:
                piece.onto(line)

    def fact(self, label: str, value: str, *, bold: bool = False) -> None:
        """A label and its value, wrapped; nothing without a value."""
        if not value:
            return
        for number, row in enumerate(plain(value, self.cells - VALUES - 1)):
            line = self.line().add(label if number == 0 else "", "dim").to(VALUES)
            for piece in row:
                line.add(piece.text, piece.ink, bold=bold, reverse=piece.hidden)


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
    data, cells = view.data, sheet.cells
    if data.asks == "question":
        _questions(sheet, data)
    else:
        text = shown_text(data.tool, data.summary)
        kept, room = text[:APPROVABLE_CHARS], cells - INDENT - 1
        plan = data.asks == "plan"
        rows = (
            plan_rows(kept, room, air=True)
            if plan
            else lay_out(kept, data.findings, room, lines=True)
        )
        sheet.section(_SUBJECTS.get(data.tool.cls, "call"), _size(len(rows), text))
        sheet.rows(rows)
    if data.asks == "approval":
        _changes(sheet, data)
        _findings(sheet, data)
    _facts(sheet, view, session)
    if data.asks == "approval":
        _input(sheet, data)
    if too_long(data):
        sheet.section("too long to be shown to its end, so it can only be denied")
    return sheet.lines


def call_lines(
    row: CallRow,
    session: SessionView | None,
    now_us: int,
    cells: int,
    colors: Palette,
    home_dir: str,
) -> list[Line]:
    """All that is known of a call that nobody has to decide."""
    sheet = Sheet(cells, colors, home_dir)
    head = sheet.line().add(safe_text(row.tool[:60]), bold=True)
    head.add("   ").add(safe_text(row.label[:60]), bold=True)
    head.add(f"  {safe_text(row.agent[:20])}", "dim").right(f"{clock(row.at)} ", "dim")
    sheet.gap()
    sheet.rows(lay_out(row.summary[:APPROVABLE_CHARS], (), cells - INDENT - 1, lines=True))
    sheet.gap()
    sheet.fact("outcome", f"{row.glyph} {row.stage}".strip(), bold=True)
    if row.why:
        sheet.section("likely cause")
        sheet.rows(plain(clause(row.why), cells - INDENT - 1))
    line = sheet.line().add("risk", "dim").to(VALUES)
    chip(line, row.risk)
    sheet.fact("took", elapsed(row, now_us))
    if session is not None:
        sheet.fact("cwd", home(session.cwd, home_dir))
        sheet.fact("mode", session.mode or "")
    sheet.fact("session", row.session)
    sheet.fact("sub-agent", f"{row.sub_type} {row.sub}".strip())
    sheet.fact("call", row.call)
    sheet.fact("request", short_id(row.request) if row.request else "")
    return sheet.lines


def _questions(sheet: Sheet, data: RequestData) -> None:
    cells = sheet.cells - INDENT - 1
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


def _changes(sheet: Sheet, data: RequestData) -> None:
    found = changes(data.tool)
    if found:
        added = sum(sign == "+" for sign, _ in found)
        removed = sum(sign == "-" for sign, _ in found)
        sheet.section("changes", f"+{added} -{removed}")
        sheet.lines.extend(draw_changes(found, sheet.cells, sheet.colors))


def _findings(sheet: Sheet, data: RequestData) -> None:
    sheet.section("why")
    if data.reason not in {finding.reason for finding in data.findings}:
        sheet.rows(plain(clause(data.reason), sheet.cells - INDENT - 1))
    for finding in sorted(data.findings, key=lambda f: -RISK_RANK.get(f.risk, 2)):
        where = f"part {finding.segment}" if finding.segment else ""
        for number, row in enumerate(plain(clause(finding.reason), sheet.cells - VALUES - 1)):
            line = sheet.line()
            if number == 0:
                line.add(RISK_GLYPH[finding.risk], RISK_TOKEN[finding.risk], bold=True).to(6)
                line.add(where, "dim")
            line.to(VALUES)
            for piece in row:
                piece.onto(line)


def _facts(sheet: Sheet, view: PendingView, session: SessionView | None) -> None:
    data = view.data
    sheet.section("facts")
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
        sheet.fact("input", rest(data).text)
    sheet.fact(_AFTER[data.asks], after_allow(data, view.agent))
    if data.runs_unasked:
        sheet.fact("after b", after_handback(data, view.agent), bold=True)


def _input(sheet: Sheet, data: RequestData) -> None:
    raw = msgspec.json.encode(data.tool.input)
    sheet.section("input", f"{data.tool.native_name}, {count(len(raw))} bytes")
    for text in _json_lines(raw):
        sheet.rows(plain(text, sheet.cells - INDENT - 1))
    if len(raw) > APPROVABLE_CHARS:
        sheet.line().add(f"... {count(len(raw) - APPROVABLE_CHARS)} bytes more", "dim")


def _json_lines(raw: bytes) -> Iterator[str]:
    if len(raw) <= APPROVABLE_CHARS:
        yield from msgspec.json.format(raw, indent=2).decode().split("\n")
    else:
        yield raw[:APPROVABLE_CHARS].decode(errors="replace")

"""A request in full, as lines: all that was sent, and all that is known about it."""

from __future__ import annotations

import msgspec

from watchgate.core.base.amounts import count, plural
from watchgate.core.base.text import safe_text
from watchgate.core.model.assessment import Finding, visible_findings
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.questions import describe_choices
from watchgate.core.model.records import RequestData
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.views import PendingView
from watchgate.core.policy.inputs.programs import plain_words
from watchgate.core.tools.diff_rows import folded, numbered
from watchgate.core.tools.edit_blocks import rewritten
from watchgate.core.tools.summary import shown_text
from watchgate.ui.approval.consequences import after_silence, seconds_left, silence, why_so_long
from watchgate.ui.base.formats import short_id
from watchgate.ui.base.theme import RISK_RANK, Palette
from watchgate.ui.widgets.base.countdown import countdown_bar, words_left
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.remaining_input import remaining_input
from watchgate.ui.widgets.base.request_text import (
    Piece,
    lay_out,
    lead,
    pieces,
    plain,
    plan_rows,
    question_rows,
    wrap,
)
from watchgate.ui.widgets.base.request_words import (
    APPROVABLE_CHARS,
    clause,
    secret_count,
    subject_chip,
    too_long,
)
from watchgate.ui.widgets.base.sheet import INDENT, VALUES, Sheet
from watchgate.ui.widgets.base.text_masking import masking_of
from watchgate.ui.widgets.diff.diff_lines import draw_rows
from watchgate.ui.widgets.diff.edit_section import (
    draw_edit,
    draw_line_notes,
    hidden_rule,
    line_notes,
    names_itself,
    undrawn_input,
)
from watchgate.ui.widgets.payload.json_tree import draw_tree
from watchgate.ui.widgets.request.command_parts import (
    draw_finding,
    draw_parts,
    findings_of,
    split_parts,
)
from watchgate.ui.widgets.request.request_facts import DIGEST_CHARS, RequestContext, draw_facts

DRAWN_PARTS = 200
LONGEST_BAR = 24
SHORTEST_BAR = 6
BYTES_PER_KB = 1_000
STALE = "as it was last seen: nothing can be decided here now"


def live_lines(
    view: PendingView,
    now_us: int,
    cells: int,
    colors: Palette,
    place: str = "",
    *,
    air: bool = False,
    stale: bool = False,
) -> list[StyledLine]:
    """Returns the lines that change with time: who asks, and what silence does when.

    Where they do not fit, each gets a second line: nothing of them is cut.

    Args:
        view: The request.
        now_us: The present (UTC µs).
        cells: Width of the lines.
        colors: The palette.
        place: Its place in the queue, in words.
        air: Whether blank lines set them apart.
        stale: Whether the core is lost, so that no time is known.
    """
    data = view.data
    head = StyledLine(colors).to(INDENT)
    subject_chip(head, data)
    who = StyledLine(colors).add(f"{safe_text(data.tool.name[:60])}   ")
    who.add(safe_text(view.label[:60]), bold=True)
    who.add(f"  {safe_text(view.agent[:20])}   {short_id(view.id)}", "dim")
    left_s = None if stale else seconds_left(data, now_us)
    words = StyledLine(colors).to(INDENT)
    after = StyledLine(colors)
    if stale:
        words.add(STALE, bold=True)
    else:
        words_left(words, silence(data, view.agent, left_s, whole=True), left_s)
        after.add(after_silence(data, view.agent), "dim")
    remaining = cells - words.left_cells - after.left_cells - 7
    room = remaining if remaining >= SHORTEST_BAR else cells - words.left_cells - 4
    if left_s is not None and room >= SHORTEST_BAR:
        words.add("   ")
        for stretch, ink in countdown_bar(left_s, data.timeout_s, min(LONGEST_BAR, room)):
            words.add(stretch, ink)
    why = "" if stale else why_so_long(data)
    waits = [StyledLine(colors).to(INDENT).fit(why, cells - INDENT - 1, "dim")] if why else []
    heads = _joined_lines(head, who, cells, colors)
    if place and heads[0].left_cells + len(place) + 3 <= cells:
        heads[0].right(f"{place} ", "dim")
    return [
        *heads,
        *([StyledLine(colors)] if air else []),
        *_joined_lines(words, after, cells, colors),
        *waits,
    ]


def _joined_lines(
    left: StyledLine, more: StyledLine, cells: int, colors: Palette
) -> list[StyledLine]:
    if left.left_cells + 3 + more.left_cells < cells:
        return [left.add("   ").join(more)]
    return [left, StyledLine(colors).to(INDENT).join(more)]


def request_lines(
    view: PendingView,
    session: SessionView | None,
    sheet: Sheet,
    *,
    profile: str = "",
    batch: tuple[CallRow, ...] = (),
    dense: bool = False,
) -> list[StyledLine]:
    """Returns all of a request below its live lines, on this sheet.

    Args:
        view: The request.
        session: The session that asks, if it is known.
        sheet: What the lines are written on.
        profile: The profile in force.
        batch: The other calls that were made together with this one.
        dense: Whether the call stands in one piece, with the reasons for its parts after it.
    """
    data = view.data
    shown_findings: set[Finding] = set()
    if data.asks == "question":
        _questions(sheet, data)
    elif data.asks == "plan":
        text = shown_text(data.tool, data.summary)
        rows = plan_rows(text[:APPROVABLE_CHARS], sheet.room, air=True)
        sheet.section("plan", _size(sheet, len(rows), text))
        sheet.rows(rows)
    else:
        shown_findings = _call(sheet, data, dense=dense)
        _rewritten(sheet, data)
        draw_edit(sheet, data)
    input_shown = _other_input(sheet, data)
    comments_from = len(sheet.lines)
    if data.asks == "approval":
        _why(sheet, data, shown_findings)
    draw_facts(sheet, view, RequestContext(session=session, profile=profile, batch=batch))
    if data.asks == "approval" and input_shown:
        draw_raw(sheet, data)
    sheet.comments = range(comments_from, len(sheet.lines))
    if not input_shown:
        _input(sheet, data)
    if too_long(data):
        sheet.section("too long to be shown to its end, so it can only be denied")
    return sheet.lines


def _questions(sheet: Sheet, data: RequestData) -> None:
    cells = sheet.room
    if lead_text := lead(data):
        sheet.section("form")
        sheet.rows(wrap(pieces(lead_text), cells, lines=True))
    for number, question in enumerate(data.questions, 1):
        count = f" {number} of {len(data.questions)}" if len(data.questions) > 1 else ""
        sheet.section(f"question{count}", safe_text(question.header[:40]))
        sheet.rows(question_rows(question, cells))
        sheet.rows(wrap([Piece(f"answer: {describe_choices(question)}", "dim")], cells))


def _size(sheet: Sheet, rows: int, text: str, count: int = 0) -> str:
    """Returns the size of a text; once all of it was on the screen, a note on that."""
    of = [plural(count, "part")] if count > 1 else []
    if sheet.all_shown:
        return ", ".join(["shown to its end", *(of or [plural(rows, "line")])])
    return ", ".join([*of, plural(rows, "line"), plural(len(text), "character")])


def _call(sheet: Sheet, data: RequestData, *, dense: bool) -> set[Finding]:
    """Writes the call's own text with its marks; returns the findings shown with it."""
    text = shown_text(data.tool, data.summary)
    text_start, masking = text[:APPROVABLE_CHARS], masking_of(data, bare=sheet.masking.bare)
    drawn = Sheet(sheet.cells, sheet.colors, sheet.home_dir, payload=sheet.payload)
    shell = data.tool.cls == "shell"
    all_parts = split_parts(data, text_start) if shell else []
    count = len(all_parts)
    if dense or max(count, len(data.findings)) > DRAWN_PARTS:
        all_parts = []  # nobody reads so many one by one, and drawing them takes seconds
    if all_parts:
        lines = draw_parts(drawn, text_start, all_parts, masking)
    else:
        rows = lay_out(text_start, data.findings, sheet.room, lines=True, masking=masking)
        drawn.rows(rows)
        lines = len(rows)
    if not (sheet.payload and names_itself(data, sheet.cells)):
        sheet.section("command" if shell else "call", _size(sheet, lines, text, count))
        sheet.lines += drawn.lines
    _secrets(sheet, secret_count(data))
    return findings_of(all_parts)


def _secrets(sheet: Sheet, number: int) -> None:
    """Writes how many secrets are masked or shown, and the key for the other."""
    if not number:
        return
    bare = sheet.masking.bare
    line = sheet.line().add(f"{plural(number, 'secret')} {'told' if bare else 'covered'}   ", "dim")
    line.add(sheet.reveal, "accent", bold=True)
    line.add(f" {'covers' if bare else 'shows'} {'it' if number == 1 else 'them'}", "dim")


def _rewritten(sheet: Sheet, data: RequestData) -> None:
    """Writes the changes between the input that the agent sent and what would run."""
    if data.before is None:
        return
    changes = rewritten(data, bare=sheet.masking.bare)
    author = (
        f"you edited {short_id(data.edited_from)}" if data.edited_from else "not as it was sent"
    )
    sheet.section(f"rewritten: {author}", "- sent   + would run")
    rows = folded(numbered(changes))
    sheet.lines.extend(draw_rows(rows, sheet.cells, sheet.colors, sheet.masking, numbers=False))


def _why(sheet: Sheet, data: RequestData, shown_findings: set[Finding]) -> None:
    """Writes the reasons not shown with the text: why somebody asks, and about the whole call."""
    about = [
        finding for finding in visible_findings(data.findings) if finding not in shown_findings
    ]
    reasons = {finding.reason for finding in data.findings}
    own = data.reason if data.reason not in reasons else ""
    raised = data.raised if data.raised not in reasons else ""
    notes = line_notes(data, bare=sheet.masking.bare)
    hidden = hidden_rule(data.findings) if notes else None  # the notes tell it line by line
    about = [finding for finding in about if finding != hidden]
    programs = list(plain_words(data.segments))
    if not (about or own or raised or notes or programs):
        return
    sheet.section("why")
    for text in (own, raised):
        if text:
            sheet.rows(plain(clause(text), sheet.room))
    alike = {(each.rule, each.reason): each for each in reversed(about)}
    for finding in sorted(alike.values(), key=lambda f: -RISK_RANK.get(f.risk, 2)):
        draw_finding(sheet, finding, INDENT)
    draw_line_notes(sheet, notes)
    for words in programs:
        sheet.rows(wrap([Piece(words, "dim")], sheet.room))


def _other_input(sheet: Sheet, data: RequestData) -> bool:
    """Writes the input that the call's text leaves out, if short; returns whether all is shown."""
    if data.asks == "question":
        return True
    if data.asks == "approval" and not sheet.payload:
        return False
    others = (undrawn_input if data.asks == "approval" else remaining_input)(
        data, bare=sheet.masking.bare
    )
    if others.whole and others.text:
        if sheet.air:
            sheet.gap()
        sheet.fact("input", others.text)
    return others.whole


def draw_raw(sheet: Sheet, data: RequestData) -> None:
    """Writes the key that shows the payload, its size, and the digest of the request."""
    number = len(msgspec.json.encode(data.tool.input))
    size = f"{number / BYTES_PER_KB:.1f} kB" if number >= BYTES_PER_KB else f"{number} bytes"
    line = sheet.line().add("raw", "dim").to(VALUES)
    line.add(sheet.payload, "accent", bold=True).add(f" shows the payload, {size}", "dim")
    digest = f"   sha256 {safe_text(data.digest[:DIGEST_CHARS])}..."
    line.add(digest if line.left_cells + len(digest) < sheet.cells else "", "dim")


def _input(sheet: Sheet, data: RequestData) -> None:
    raw = msgspec.json.encode(data.tool.input)
    sheet.section("input", f"{data.tool.native_name}, {count(len(raw))} bytes")
    if len(raw) <= APPROVABLE_CHARS:
        draw_tree(sheet, data.tool.input)
        return
    sheet.rows(plain(raw[:APPROVABLE_CHARS].decode(errors="replace"), sheet.room, sheet.masking))
    sheet.line().add(f"... {count(len(raw) - APPROVABLE_CHARS)} bytes more", "dim")

"""A call that nobody has to decide, in full, as lines."""

from __future__ import annotations

from watchgate.core.views import CallRow, SessionView
from watchgate.ui.covered import covered
from watchgate.ui.formats import clock, home, short_id
from watchgate.ui.palettes import Palette
from watchgate.ui.widgets.command_text import lay_out, plain
from watchgate.ui.widgets.detail_sheet import VALUES, Sheet
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.request_words import APPROVABLE_CHARS, chip, clause
from watchgate.ui.widgets.ring_columns import elapsed


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
    head = sheet.line().add(covered(row.tool[:60]), bold=True)
    head.add("   ").add(covered(row.label[:60]), bold=True)
    head.add(f"  {covered(row.agent[:20])}", "dim").right(f"{clock(row.at)} ", "dim")
    sheet.gap()
    sheet.rows(lay_out(row.summary[:APPROVABLE_CHARS], (), sheet.room, lines=True))
    sheet.gap()
    sheet.fact("outcome", f"{row.glyph} {row.stage}".strip(), bold=True)
    if row.why:
        sheet.section("likely cause")
        sheet.rows(plain(clause(row.why), sheet.room))
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

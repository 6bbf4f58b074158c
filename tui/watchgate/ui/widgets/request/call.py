"""A call that nobody has to decide, in full, as lines, with the hooks that it met."""

from __future__ import annotations

from watchgate.core.state import State
from watchgate.core.summary import in_columns
from watchgate.core.traces import TracedCall, grouped
from watchgate.core.views import AsAsked, CallRow, SessionView
from watchgate.ui.covered import covered
from watchgate.ui.formats import clock, home, machine, person, short_id
from watchgate.ui.theming.palettes import Palette
from watchgate.ui.widgets.calls.columns import elapsed
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.request.command_text import lay_out, plain
from watchgate.ui.widgets.request.hooks import draw_hooks
from watchgate.ui.widgets.request.request_words import APPROVABLE_CHARS, chip, clause
from watchgate.ui.widgets.request.sheet import VALUES, Sheet
from watchgate.ui.widgets.traces.words import ENDED

TOOL_CHARS = 60


def hooks_of(state: State, row: CallRow) -> TracedCall | None:
    """Returns the hooks that the call met, as far as their traces are in memory."""
    if not row.call:
        return None
    key = (row.agent, row.session, row.call)
    own = grouped(trace for trace in state.traces.ring if trace.key[:3] == key)
    return own[0] if own else None


def call_lines(
    row: CallRow,
    session: SessionView | None,
    now_us: int,
    cells: int,
    colors: Palette,
    home_dir: str,
    hooks: TracedCall | None = None,
    asked: str = "",
) -> list[Line]:
    """Returns all that is known of a call that nobody has to decide.

    Args:
        row: The call.
        session: Its session, if it is known.
        now_us: The present (UTC µs), for times that tick.
        cells: Width of the lines.
        colors: The palette.
        home_dir: The path shown as `~`.
        hooks: The hooks that it met, if they are known.
        asked: The words for what asked for it.
    """
    sheet = Sheet(cells, colors, home_dir)
    tool, call = in_columns(row.tool, row.summary, TOOL_CHARS)
    head = sheet.line().add(covered(tool[:TOOL_CHARS]), bold=True)
    head.add("   ").add(covered(row.label[:60]), bold=True)
    head.add(f"  {covered(row.agent[:20])}", "dim").right(f"{clock(row.at)} ", "dim")
    sheet.gap()
    sheet.rows(lay_out(call[:APPROVABLE_CHARS], (), sheet.room, lines=True))
    if row.asked is not None:
        _as_asked(sheet, row.asked)
    sheet.gap()
    sheet.fact("outcome", outcome(row), bold=True)
    sheet.fact("rule", row.rule)
    if row.why:
        sheet.section("likely cause")
        sheet.rows(plain(clause(row.why), sheet.room))
    line = sheet.line().add("risk", "dim").to(VALUES)
    chip(line, row.risk)
    took = sheet.line().add("took", "dim").to(VALUES).add(elapsed(row, now_us))
    if row.freed_at == 0 and row.took_ms is None:
        took.add("   not known: its agent asked somebody itself", "dim")
    if hooks is not None:
        took.add(f"   {machine(hooks.took_ms)} in hooks", "dim")
    if row.stage == "pending":
        sheet.fact("waits", person((now_us - row.at) / 1_000_000))
    elif row.waited_ms is not None:
        sheet.fact("waited", person(row.waited_ms / 1000))
    if session is not None:
        sheet.fact("cwd", home(session.cwd, home_dir))
        sheet.fact("mode", session.mode or "")
    sheet.fact("session", row.session)
    sheet.fact("sub-agent", f"{row.sub_type} {row.sub}".strip())
    sheet.fact("call", row.call)
    sheet.fact("asked by", asked)
    sheet.fact("request", short_id(row.request) if row.request else "")
    if hooks is not None:
        draw_hooks(sheet, hooks)
    return sheet.lines


def _as_asked(sheet: Sheet, asked: AsAsked) -> None:
    """Writes what the agent had asked for, which the call above replaced."""
    sheet.section(f"{asked.verb}: what the agent asked for")
    if asked.risk != "unknown":
        chip(sheet.line(), asked.risk)
    sheet.rows(lay_out(asked.summary[:APPROVABLE_CHARS], (), sheet.room, lines=True))


def outcome(row: CallRow) -> str:
    """Returns the gate's decision with who made it, and the call's stage: `= by rule, done`."""
    decided = ENDED.get(row.glyph, "") if row.glyph else ""
    if row.alarm or not decided or row.stage in decided:
        return f"{row.glyph} {decided if row.stage in decided else row.stage}".strip()
    return f"{row.glyph} {decided}, {row.stage}"

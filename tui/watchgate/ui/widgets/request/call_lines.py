"""A call that nobody has to decide, in full, as lines, with the hooks that it met."""

from __future__ import annotations

from watchgate.core.base.amounts import count, plural
from watchgate.core.model.call_row import AsAsked, CallRow
from watchgate.core.model.outcomes import GLYPHS
from watchgate.core.model.session_view import SessionView
from watchgate.core.state.state import State
from watchgate.core.state.traces import TracedCall, group_traces
from watchgate.core.tools.summary import in_columns
from watchgate.ui.base.formats import clock, covered, cut_front, home, machine, person, short_id
from watchgate.ui.base.theme import Palette, Token
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_text import lay_out, plain
from watchgate.ui.widgets.base.request_words import APPROVABLE_CHARS, chip, clause
from watchgate.ui.widgets.base.sheet import INDENT, VALUES, Sheet
from watchgate.ui.widgets.calls.call_columns import elapsed_cell
from watchgate.ui.widgets.traces.trace_words import decides
from watchgate.ui.widgets.traces.waterfall import BAR, THIN, bar, scale

HOOKS_SHOWN = 6
NAME = 18
TIME = 9
SHORTEST_BAR = 6
TOOL_CHARS = 60


def draw_hooks(sheet: Sheet, call: TracedCall) -> None:
    """Writes each hook that ran with its time and bar; the one that decided stands out."""
    rows = [row for trace in call.traces for row in trace.data.rows]
    ran = [row for row in rows if row.status != "skipped"]
    sheet.gap()
    line = sheet.line().add("hooks", "dim")
    line.add(f"   {plural(len(ran), 'hook')}, {machine(call.took_ms)}", "dim")
    line.right(key_for("traces"), "accent", bold=True).right(" shows traces ", "dim")
    on = scale(ran, max(1, sheet.room - NAME - TIME - 1))
    for row in ran[:HOOKS_SHOWN]:
        chosen = decides(row, call.decisive)
        took = "running" if row.status == "running" else machine(row.duration_ms)
        line = sheet.line()
        line.add(cut_front(covered(row.handler[:200]), NAME - 1), bold=chosen)
        line.to(INDENT + NAME).add(took.rjust(TIME), bold=chosen)
        drawn = bar(row, on)
        if drawn is not None and on.cells >= SHORTEST_BAR:
            ink: Token = "accent" if chosen else "dim"
            line.add(" " * (1 + drawn.before)).add(THIN * drawn.queued, "faint")
            line.add(BAR * drawn.running, ink)
    left_out = ((len(ran) - HOOKS_SHOWN, "more"), (len(rows) - len(ran), "skipped"))
    others = [f"{count(number)} {word}" for number, word in left_out if number > 0]
    if others:
        sheet.line().add(", ".join(others), "dim")


def hooks_of(state: State, row: CallRow) -> TracedCall | None:
    """Returns the hooks that the call met, as far as their traces are in memory."""
    if not row.call:
        return None
    key = (row.agent, row.session, row.call)
    own = group_traces(trace for trace in state.traces.ring if trace.key[:3] == key)
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
) -> list[StyledLine]:
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
    took = sheet.line().add("took", "dim").to(VALUES).add(elapsed_cell(row, now_us))
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
    decided = GLYPHS[row.glyph].trace if row.glyph in GLYPHS else ""
    if row.alarm or not decided or row.stage in decided:
        return f"{row.glyph} {decided if row.stage in decided else row.stage}".strip()
    return f"{row.glyph} {decided}, {row.stage}"

"""One session in full, scrolled: facts, what the gate saw of it, its agents, its calls."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from watchgate.core.amounts import count, money, plural
from watchgate.core.as_asked import line_of
from watchgate.core.sessions import SessionState
from watchgate.core.views import CallRow, PendingView, SessionView
from watchgate.ui.covered import covered
from watchgate.ui.formats import clock, home, person
from watchgate.ui.overview import living, session_word
from watchgate.ui.widgets.calls.columns import Look, draw_call
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.request.request_words import approved
from watchgate.ui.widgets.request.sheet import VALUES, Sheet
from watchgate.ui.widgets.session.agent_tree import branches, tree_lines

CALLS_SHOWN = 50
MINUTE_S = 60
TABLE_FROM = 60
"""Cells from which the calls have the columns of the live table."""

_ONLY_WATCHED = "only watched, nothing of it is held"


def session_lines(
    view: SessionView,
    rows: Sequence[CallRow],
    pending: Sequence[PendingView],
    now_us: int,
    sheet: Sheet,
    cost: str = "",
) -> list[Line]:
    """Returns all that is known of a session.

    Args:
        view: The session.
        rows: Its calls, the oldest first.
        pending: Its open requests.
        now_us: The present (UTC µs).
        sheet: The sheet to write on.
        cost: The words for its cost, or empty.
    """
    head = sheet.line().fit(covered(view.label[:60]), sheet.room // 2, bold=True)
    host = f"  on {covered(view.host[:40])}" if view.host else ""
    words = f"  {covered(view.agent[:20])}{host}"
    head.fit(words, sheet.cells - head.left_cells - 1, "dim")
    sheet.gap()
    _facts(sheet, view, pending, now_us, cost)
    agents = branches(view, rows, pending)
    subs = len(view.subs)
    sub_agents = (
        f"{plural(subs, 'sub-agent')}, {count(len(living(view)))} not ended" if subs else ""
    )
    sheet.section("agents", sub_agents)
    sheet.lines.extend(tree_lines(agents, now_us, sheet.cells, sheet.colors))
    shown = rows[-CALLS_SHOWN:]
    sheet.section("newest calls", f"{count(len(shown))} of {count(view.calls)}" if shown else "")
    for row in reversed(shown):
        if sheet.cells >= TABLE_FROM:
            sheet.lines.append(draw_call(row, sheet.cells, sheet.colors, Look(), now_us, None))
        else:
            line = sheet.line().add(f"{row.glyph or ' '} ")
            line.fit(covered(line_of(row)), sheet.cells - line.left_cells - 1, "dim")
    if not shown:
        sheet.line().add("none in memory; 5 finds older ones in the journal", "dim")
    return sheet.lines


def _facts(
    sheet: Sheet, view: SessionView, pending: Sequence[PendingView], now_us: int, cost: str
) -> None:
    """Writes the facts of the session.

    Args:
        sheet: The sheet to write on.
        view: The session.
        pending: Its open requests.
        now_us: The present (UTC µs).
        cost: The words for its cost, or empty.
    """
    oldest = min((each.at for each in pending), default=None)
    word = session_word(view, oldest, now_us)
    if view.gated is False and view.shown is not SessionState.WAITING:
        word = session_word(msgspec.structs.replace(view, gated=None), oldest, now_us)
    sheet.fact("asked for", view.title)
    line = sheet.line().add("state", "dim").to(VALUES).add(word, bold=True)
    if view.since and view.shown is not SessionState.WAITING:
        line.add(f"   since {clock(view.since)}", "dim")
    sheet.fact("inferred", view.at(now_us).why)
    if view.paused_until > now_us:
        left = person((view.paused_until - now_us) / 1_000_000)
        sheet.fact("paused", f"{left} more: {view.paused_why}; what it would ask is denied")
    gated, loud = _gated(view)
    sheet.fact("gated", gated, bold=loud)
    sheet.fact("cwd", home(view.cwd, sheet.home_dir))
    sheet.fact("mode", view.mode or "")
    sheet.fact("runs", "by itself, nobody answers its own prompts" if view.autonomous else "")
    sheet.fact("model", view.model or "")
    recent = sum(n for second, n in view.recent if second > now_us // 1_000_000 - MINUTE_S)
    sheet.fact("calls", f"{count(view.calls)}, {count(recent)} in the last minute")
    sheet.fact("cost", cost or money(view.cost_usd))
    sheet.fact("so far", approved(view))
    sheet.fact("hidden by", f"{view.hidden_by}, until its turn ends" if view.hidden_by else "")
    sheet.fact("session", view.session)
    sheet.fact("pid", str(view.pid) if view.pid else "")


def _gated(view: SessionView) -> tuple[str, bool]:
    """Returns whether the gate is asked before its calls, and why not; `?` before any call."""
    ran = f"{count(view.passed)} of {count(view.ran)} calls that ran" if view.ran else ""
    if view.gated is None:
        return "? no call told yet", False
    if view.gated:
        return f"yes{', ' if ran else ''}{ran}", False
    return f"NOT GATED: {view.cause or _ONLY_WATCHED}", True

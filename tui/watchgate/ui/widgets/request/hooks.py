"""A call that nobody has to decide, in full, as lines, with the hooks that it met."""

from __future__ import annotations

from watchgate.core.amounts import count, plural
from watchgate.core.traces import TracedCall
from watchgate.core.verdicts import TraceRow
from watchgate.ui.covered import covered
from watchgate.ui.formats import cut_front, machine
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.request.sheet import INDENT, Sheet
from watchgate.ui.widgets.traces.bars import BAR, THIN, bar, scale
from watchgate.ui.widgets.traces.words import decides

HOOKS_SHOWN = 6
NAME = 18
TIME = 9
SHORTEST_BAR = 6


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
        line = sheet.line()
        line.add(cut_front(covered(row.handler[:200]), NAME - 1), bold=chosen)
        line.to(INDENT + NAME).add(_time(row).rjust(TIME), bold=chosen)
        drawn = bar(row, on)
        if drawn is not None and on.cells >= SHORTEST_BAR:
            ink: Token = "accent" if chosen else "dim"
            line.add(" " * (1 + drawn.before)).add(THIN * drawn.queued, "faint")
            line.add(BAR * drawn.running, ink)
    others = []
    if len(ran) > HOOKS_SHOWN:
        others.append(f"{count(len(ran) - HOOKS_SHOWN)} more")
    if len(rows) > len(ran):
        others.append(f"{count(len(rows) - len(ran))} skipped")
    if others:
        sheet.line().add(", ".join(others), "dim")


def _time(row: TraceRow) -> str:
    return "running" if row.status == "running" else machine(row.duration_ms)

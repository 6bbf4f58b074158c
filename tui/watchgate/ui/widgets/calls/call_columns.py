"""The columns of the live table: their widths, and one call drawn into them."""

from __future__ import annotations

from datetime import tzinfo

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.core.model.call_row import CallRow
from watchgate.core.state.asked_call import columns_of
from watchgate.ui.base.formats import UNMEASURED, clock, covered, cut, cut_name, person, took, width
from watchgate.ui.base.theme import RISK_GLYPH, RISK_TOKEN, Palette, Token
from watchgate.ui.widgets.base.pane import StyledLine

CURSOR = 2
GAP = 2
MARGIN = 1
WIDE = 110

_QUIET = ("done", "withdrawn", "no result")
_STOPPED = ("denied", "timed out", "failed", "refused")
_RAN = ("running", "done", "failed", "ran ungated", "no result")


class CallColumns(msgspec.Struct, frozen=True):
    """Cells of each column, the blank behind it included; a time of 0 leaves the column out."""

    time: int
    session: int
    tool: int
    risk: int
    state: int
    took: int
    call: int

    @property
    def call_at(self) -> int:
        """The cell at which the call begins."""
        return (
            CURSOR + self.time + self.session + self.tool + self.risk + self.state + self.took + GAP
        )


def columns(cells: int, *, hosts: bool = False) -> CallColumns:
    """Returns the columns of a table of that width; the call takes the remaining cells.

    Sessions have more room in a wide table, and where they are named by their hosts.
    """
    sizes = (10, 9, 7, 5, 14, 6) if cells >= 80 else (0, 8, 6, 4, 13, 6)
    if cells >= WIDE:
        sizes = (10, 17, 7, 5, 14, 6)
    if hosts:
        sizes = (sizes[0], sizes[1] + (6 if cells >= 80 else 4), *sizes[2:])
    return CallColumns(*sizes, max(0, cells - CURSOR - sum(sizes) - GAP - MARGIN))


def _cut_name(name: str, cells: int) -> str:
    """Cuts a name to so many cells, behind a whole word of it where it has any."""
    fitting, dots = cut(name, cells)
    if not dots:
        return fitting
    head = name[:cells]
    end = max(head.rfind(mark) for mark in "-_ :")
    return head[:end] if end > 0 else head


class RowLook(msgspec.Struct, frozen=True):
    """Appearance of a row: cursor and focus, or the grey of a lost core.

    `hosts` says that sessions are named by their hosts; `session` is the row's session name,
    shortened for a narrow column.
    """

    cursor: bool = False
    focus: bool = False
    stale: bool = False
    hosts: bool = False
    session: str = ""

    @property
    def ground(self) -> Token:
        """The ground token of the row."""
        if not self.cursor:
            return "bg"
        return "sel" if self.focus and not self.stale else "s2"


def header(cells: int, colors: Palette, *, hosts: bool = False) -> StyledLine:
    """Returns the line of column names."""
    at = columns(cells, hosts=hosts)
    line = StyledLine(colors).to(CURSOR)
    if at.time:
        line.add("time".ljust(at.time), "dim")
    line.add("session".ljust(at.session) + "tool".ljust(at.tool), "dim")
    line.add(("risk" if at.risk > 4 else "").ljust(at.risk) + "state".ljust(at.state), "dim")
    return line.add("took".rjust(at.took) + " " * GAP + "call", "dim")


def elapsed_cell(row: CallRow, now_us: int) -> str:
    """Returns the cell of the machine's time, ticking while the call runs since a known start."""
    if row.stage == "running" and row.ended_at is None and row.freed_at != 0:
        return took(max(0, now_us - (row.freed_at or row.at)) // 1000, running=True)
    return took(row.took_ms)


def state_cell(row: CallRow, now_us: int) -> str:
    """Returns the cell of the call's state, which ticks while a person is waited for."""
    if row.stage == "pending":
        return f"{row.glyph} waits {person((now_us - row.at) / 1_000_000)}"
    return safe_text(f"{row.glyph or ' '} {row.stage}")


class _Tone(msgspec.Struct, frozen=True):
    ground: Token
    quiet: Token
    ink: Token
    risk: Token
    marker: Token
    bold: bool
    loud: bool


def _tone(row: CallRow, look: RowLook) -> _Tone:
    if row.alarm:
        ink: Token = "alarm_ink"
        return _Tone("alarm", ink, ink, ink, ink, bold=True, loud=True)
    marker: Token = "accent" if look.focus and not look.stale else "dim"
    if look.stale:
        return _Tone(look.ground, "off", "off", "off", marker, bold=False, loud=False)
    pending = row.stage == "pending"
    return _Tone(
        look.ground,
        "dim",
        "dim" if row.stage in _QUIET else "fg",
        RISK_TOKEN.get(row.risk, "high"),
        marker,
        bold=pending,
        loud=pending or row.stage in _STOPPED,
    )


def draw_call(
    row: CallRow, cells: int, colors: Palette, look: RowLook, now_us: int, zone: tzinfo | None
) -> StyledLine:
    """Draws one call as a line of the table.

    Args:
        row: The call.
        cells: Width of the table.
        colors: The palette.
        look: Appearance of the row.
        now_us: The present (UTC µs), for times that tick.
        zone: Time zone of the shown clock times, None for the local one.
    """
    at = columns(cells, hosts=look.hosts)
    tone = _tone(row, look)
    line = StyledLine(colors, tone.ground)
    line.add(">" if look.cursor else " ", tone.marker, bold=True).to(CURSOR)
    if at.time:
        line.add(clock(row.at, zone), tone.quiet)
    column = CURSOR + at.time
    tool, call = columns_of(row, at.tool - 1)
    label = look.session or cut_name(safe_text(row.label[:80]), at.session - 1)
    for text, wide in ((label, at.session), (safe_text(tool[:80]), at.tool)):
        line.to(column).fit(text, wide - 1, tone.ink, bold=tone.bold)
        column += wide
    grave = row.risk not in ("low", "medium")
    line.to(column).add(RISK_GLYPH.get(row.risk, "!!"), tone.risk, bold=grave)
    line.to(column + at.risk)
    if row.alarm:
        # The words of an alarm are wider than their column, and it has no time worth reading.
        line.fit(f"# {safe_text(row.stage)}", at.state + at.took, tone.ink, bold=True)
    else:
        state = f"{row.glyph} {row.stage}" if look.stale else state_cell(row, now_us)
        line.fit(state, at.state, tone.ink, bold=tone.loud)
        line.to(column + at.risk + at.state)
        unknown = look.stale and row.ended_at is None
        time = UNMEASURED if unknown else elapsed_cell(row, now_us)
        line.add(time.rjust(at.took), tone.ink, bold=tone.bold)
    if row.hidden_by and not row.alarm and row.stage != "pending":
        by = safe_text(row.hidden_by[:80])
        return line.to(at.call_at).fit(f"hidden from view by {by}, not prevented", at.call, "dim")
    if row.speaks_for > 1:
        summary = f"{row.speaks_for:,} calls ran without the gate: {row.why}"
        return line.to(at.call_at).fit(
            safe_text(summary[: at.call + 8]), at.call, tone.ink, bold=True
        )
    if row.shown_by and not row.alarm and row.stage in _RAN:
        by, call = safe_text(row.shown_by[:80]), covered(row.shown)[: at.call + 8]
        note = f"shown rewritten by {by}, it ran as it was: "
        return line.to(at.call_at).fit(f"{note}{call}", at.call, "dim")
    if row.stage == "refused":
        call = f"{row.why}: {call}"
    call = covered(call)[: 4 * at.call + 8]
    line.to(at.call_at)
    room = at.call
    if row.sub:
        sub_name = _cut_name(safe_text((row.sub_type or row.sub)[:80]), max(8, at.call // 4))
        line.add(f"{sub_name}: ", tone.quiet)
        room = max(0, room - width(sub_name) - 2)
    head, dots = cut(call, room)
    line.add(head, tone.ink, bold=tone.bold)
    return line.add(dots, tone.quiet) if dots else line

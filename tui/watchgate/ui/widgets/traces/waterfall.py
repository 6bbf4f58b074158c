"""One call's dispatches as a waterfall: its title, the scale, and every handler with its bar."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import tzinfo

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import TraceData
from watchgate.core.model.verdicts import TraceRow
from watchgate.core.state.traces import TracedCall, shows_only
from watchgate.ui.base.formats import clock, covered, cut
from watchgate.ui.base.theme import Palette, Token
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.traces.trace_words import columns as shown
from watchgate.ui.widgets.traces.trace_words import (
    decided_by,
    decides,
    ended,
    hides,
    lasted,
    mark,
    verdict,
    why_ignored,
    why_skipped,
)

BAR = "━"
THIN = "─"
_STEPS = (1, 2, 5, 10, 20)
_SHORTEST_TICK = 8
UNIT = " ms"


class Scale(msgspec.Struct, frozen=True):
    """The milliseconds that the cells of a bar stand for, from 0."""

    cells: int
    ms: float

    def cell(self, ms: float) -> int:
        """Returns the cell of a moment; what lies beyond the end is in the last one."""
        if self.ms <= 0:
            return 0
        return min(max(0, int(ms / self.ms * self.cells)), self.cells - 1)


class Bar(msgspec.Struct, frozen=True):
    """Cells before the bar, cells of waiting in the queue, cells of running (at least one)."""

    before: int
    queued: int
    running: int


def scale(rows: Iterable[TraceRow], cells: int) -> Scale:
    """Returns the common scale of all dispatches of one call."""
    ends = [
        row.start_ms + row.duration_ms
        for row in rows
        if row.start_ms is not None and row.duration_ms is not None
    ]
    return Scale(max(1, cells), max(ends, default=0.0))


def bar(row: TraceRow, on: Scale) -> Bar | None:
    """Returns the place of a handler's bar; None for one that did not run."""
    if row.start_ms is None or row.duration_ms is None:
        return None
    first = on.cell(row.start_ms)
    end = max(first + 1, round((row.start_ms + row.duration_ms) / on.ms * on.cells) if on.ms else 1)
    end = min(end, on.cells)
    waited = min(row.run.queue_ms, row.duration_ms)
    queued = min(round(waited / on.ms * on.cells) if on.ms else 0, end - first - 1)
    return Bar(first, queued, end - first - queued)


def axis(on: Scale) -> str:
    """Returns the labels above the bars: 0, round times, and the unit at the last."""
    labels = [(0, "0")]
    if on.ms > 0:
        step = _step(on)
        times = [step * n for n in range(1, 100) if step * n <= on.ms * 1.001]
        labels += [(on.cell(time), f"{time:g}") for time in times]
    text = [" "] * on.cells
    last = len(labels) - 1
    free = on.cells
    for number, (cell, label) in reversed(list(enumerate(labels))):
        word = label + (UNIT if number == last else "")
        at = cell if number == 0 else cell - len(label) // 2
        at = max(0, min(at, on.cells - len(word)))
        if at + len(word) > free:
            continue
        text[at : at + len(word)] = word
        free = at - 1
    return "".join(text)


def _step(on: Scale) -> float:
    """Returns the smallest of 1, 2, 5, 10, 20, ... ms whose labels do not touch."""
    shortest_ms = on.ms * _SHORTEST_TICK / on.cells
    power = 10.0 ** math.floor(math.log10(shortest_ms))
    return float(f"{next(base * power for base in _STEPS if base * power >= shortest_ms):.6g}")


INDENT = 2
KIND_FROM = 76
TOOL_CHARS = 60
SHORTEST_WHY = 10
SHOWN_ONLY = "these hooks change what is shown, never what runs"
WATCHED_ONLY = "these hooks only watched"


class HandlerPlace(msgspec.Struct, frozen=True):
    """One handler's row: its dispatch, and its place among all rows of the call."""

    number: int
    data: TraceData
    row: TraceRow


class WaterfallColumns(msgspec.Struct, frozen=True):
    """The cells at which the waterfall's columns begin; a kind of 0 leaves that column out."""

    kind: int
    verdict: int
    bars: int
    end: int

    @property
    def took_end(self) -> int:
        """The cell behind the column of times."""
        return self.bars - 2


def waterfall_columns(cells: int) -> WaterfallColumns:
    """Returns the columns of a waterfall of that width."""
    if cells >= KIND_FROM:
        return WaterfallColumns(19, 29, 54, cells - 1)
    return WaterfallColumns(0, 17, 41, cells - 1)


def places(call: TracedCall) -> list[HandlerPlace]:
    """Returns every handler of a call, in the order in which they are listed."""
    pairs = ((trace.data, row) for trace in call.traces for row in trace.data.rows)
    return [HandlerPlace(number, data, row) for number, (data, row) in enumerate(pairs)]


def head_lines(
    call: TracedCall, row: CallRow | None, cells: int, colors: Palette, zone: tzinfo | None
) -> list[StyledLine]:
    """Returns the lines above the waterfall: the call, its outcome, and its own words.

    Args:
        call: The call.
        row: Its row, where that is in memory.
        cells: Width of the lines.
        colors: The palette.
        zone: Time zone of the clock time, None for the local one.
    """
    tool, words = shown(call, row, TOOL_CHARS)
    line = StyledLine(colors).to(INDENT).add(safe_text(tool[:TOOL_CHARS])).add("   ")
    line.add(safe_text(call.label[:60]), bold=True)
    agent = safe_text(call.traces[0].agent[:20])
    line.add(f"  {agent}   {clock(call.at, zone)}", "dim")
    _outcome(line, call.decisive, row, cells)
    lines = [line]
    if words:
        room = cells - INDENT - 1
        summary = covered(words)[: 4 * room + 8]
        lines.append(StyledLine(colors).to(INDENT).fit(summary, room))
    return lines


class DispatchBlocks:
    """The dispatches of a call as lines; `at` has the line of each handler."""

    def __init__(
        self, call: TracedCall, cells: int, colors: Palette, *, chosen: int, active: bool
    ) -> None:
        """Draws all dispatches.

        Args:
            call: The call.
            cells: Width of the lines.
            colors: The palette.
            chosen: Number of the chosen handler among all of the call.
            active: Whether the keys that move belong to the handlers.
        """
        self.lines: list[StyledLine] = []
        self.at: list[int] = []
        self._at = waterfall_columns(cells)
        self._colors = colors
        self._chosen = chosen
        self._active = active
        everyone = places(call)
        self._scale = scale((place.row for place in everyone), self._at.end - self._at.bars)
        known = iter(everyone)
        for number, trace in enumerate(call.traces):
            self._block(number, trace.data, known)

    def _block(self, number: int, data: TraceData, known: Iterator[HandlerPlace]) -> None:
        if number:
            self.lines.append(self._line())
        self._title(data, first=number == 0)
        if not data.rows:
            self.lines.append(self._line().to(INDENT).add("no handler is registered", "dim"))
        for _ in data.rows:
            self._row(next(known))

    def _title(self, data: TraceData, *, first: bool) -> None:
        """Adds the event's own name, the first one with the columns' names behind or below it."""
        at, native = self._at, safe_text(data.native[:80])
        line = self._line().to(INDENT).fit(native, at.end - INDENT, bold=True)
        self.lines.append(line)
        shown_only = shows_only(data)
        if shown_only:
            self.lines.append(self._line().to(INDENT).add(SHOWN_ONLY, "dim"))
        if not first:
            return
        if shown_only or line.left_cells >= (at.kind or at.verdict):
            line = self._line()
            self.lines.append(line)
        if at.kind:
            line.to(at.kind).add("kind", "dim")
        line.to(at.verdict).add("verdict", "dim").to(at.took_end - 4).add("took", "dim")
        line.to(at.bars).add(axis(self._scale).rstrip(), "dim")

    def _row(self, place: HandlerPlace) -> None:
        row, data, at = place.row, place.data, self._at
        chosen = place.number == self._chosen
        ground: Token = ("sel" if self._active else "s2") if chosen else "bg"
        decider = decides(row, data)
        quiet = row.status != "ran" or (row.ignored and row.role == "gate")
        ink: Token = "dim" if quiet else "fg"
        line = StyledLine(self._colors, ground)
        line.add(">" if chosen else " ", "accent" if self._active else "dim", bold=True).to(INDENT)
        again = ", again" if row.times > 1 else ""
        room = (at.kind or at.verdict) - INDENT - 1 - len(again)
        # An extension's id goes on with its hook, which the title says already.
        name = row.handler.partition(":")[0] if row.kind == "extension" else row.handler
        line.fit(safe_text(name[:80]), room, ink, bold=decider).add(again, "dim")
        if at.kind:
            kind = row.kind if row.role == "gate" else row.role
            line.to(at.kind).fit(safe_text(kind[:20]), at.verdict - at.kind - 1, "dim")
        took = lasted(row)
        words = verdict(row, data)
        if decider and mark(row, data):
            words = f"{mark(row, data)} {words}"
        loud = decider or row.verdict == "failed" or hides(row, data)
        line.to(at.verdict)
        line.fit(words, at.took_end - at.verdict - len(took) - 1, ink, bold=loud)
        line.to(at.took_end - len(took)).add(took, ink, bold=decider).to(at.bars)
        self._bar(line, row, decides=decider)
        self.at.append(len(self.lines))
        self.lines.append(line)
        ignored = why_ignored(row)
        if ignored:
            under = self._line().to(at.verdict)
            self.lines.append(under.fit(ignored, at.end - at.verdict, "dim"))

    def _bar(self, line: StyledLine, row: TraceRow, *, decides: bool) -> None:
        drawn = bar(row, self._scale)
        if row.status == "skipped":
            line.fit(why_skipped(row), self._at.end - self._at.bars, "dim")
        elif drawn is not None:
            line.add(" " * drawn.before).add(THIN * drawn.queued, "faint")
            line.add(BAR * drawn.running, "accent" if decides else "dim")

    def _line(self) -> StyledLine:
        return StyledLine(self._colors)


def _outcome(line: StyledLine, data: TraceData, row: CallRow | None, cells: int) -> None:
    """Adds the call's outcome at the right, as far as there is room."""
    if row is not None and row.alarm:
        line.right(f" {safe_text(row.stage)} ", "alarm_ink", on="alarm", bold=True).right(" ")
        return
    glyph, words = ended(data, row)
    words_shown = f"{glyph} {words}".strip()
    loud = bool(glyph) or words not in ("", "no opinion")
    why = decided_by(data)
    room = cells - line.left_cells - len(words_shown) - 4
    line.right(words_shown, "fg" if loud else "dim", bold=loud)
    if why and room >= SHORTEST_WHY:
        line.right("  ", "dim").right("".join(cut(why, room - 2)), "dim")
    line.right(" ")

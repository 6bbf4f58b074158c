"""One recorded call: its outcome, its timeline, and what to do where it went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from textual.events import MouseScrollDown, MouseScrollUp

from watchgate.core.base.amounts import count
from watchgate.core.base.text import safe_text
from watchgate.core.history.history_row import HistoryRow
from watchgate.core.model.records import Record
from watchgate.core.tools.summary import in_columns
from watchgate.ui.base.formats import (
    DOTS,
    clock,
    covered,
    cut,
    home,
    machine,
    person,
    short_id,
    width,
)
from watchgate.ui.base.theme import RISK_GLYPH, RISK_TOKEN, Token
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.base.request_text import draw_row, lay_out, plain
from watchgate.ui.widgets.base.request_words import APPROVABLE_CHARS
from watchgate.ui.widgets.history.call_timeline import TimelineStep, mend, timeline_of
from watchgate.ui.widgets.history.history_list import NOT_RECORDED, by_words, day

WORDS, ABOUT = 16, 41
LONGEST = 2_000
TOOL_CHARS = 60
WIDE = 100
"""With so many cells a step takes one line."""

FULL_WIDTH_FROM = 76
"""In fewer cells it shares the width with the list, which then leaves columns out."""

LONGEST_ASKED = 12
LONGEST_STEP = 3
"""The lines that the words about one step take at most."""

WHEEL = 3
SHORT_SUMMARY = 2
"""The lines that a call takes below the list; its own page shows all of it."""


class HistoryDetail(Pane):
    """The pane of one call: below the list, beside it, or (`whole`) alone and scrolled."""

    DEFAULT_CSS = "HistoryDetail { height: 1fr; width: 1fr; }"

    def __init__(self, *, home_dir: str = "", zone: tzinfo | None = None) -> None:
        super().__init__()
        self._home = home_dir
        self._zone = zone
        self._row: HistoryRow | None = None
        self._records: Sequence[Record] | None = None
        self._now_us = 0
        self._whole = self._stale = self._below = False
        self._asked = ""
        self._top = 0
        self._deepest = 0

    def show(
        self,
        row: HistoryRow | None,
        records: Sequence[Record] | None,
        now_us: int,
        *,
        home_dir: str = "",
        whole: bool = False,
        stale: bool = False,
        asked: str = "",
    ) -> None:
        """Shows a call with its records.

        Args:
            row: The call, None for none.
            records: Its records, None while they are fetched.
            now_us: The present (UTC µs).
            home_dir: The path shown as `~`.
            whole: Whether it is alone on the screen.
            stale: Whether the core is lost.
            asked: The words for what asked for the call.
        """
        before = (self._row, self._records, self._home, self._whole, self._stale, self._asked)
        if before == (row, records, home_dir, whole, stale, asked):
            self._now_us = now_us
            return
        if (self._row, self._whole) != (row, whole):
            self._top = 0
        self._row, self._records, self._home = row, records, home_dir
        self._now_us, self._whole, self._stale, self._asked = now_us, whole, stale, asked
        self.redraw()

    def set_below(self, *, below: bool) -> None:
        """Sets whether it stands below the list, from which two blank lines then part it."""
        if below != self._below:
            self._below = below
            self.redraw()

    def move(self, lines: int) -> None:
        """Scrolls, where there is more than fits."""
        self._top = min(max(0, self._top + lines), self._deepest)
        self.redraw()

    def page(self, pages: int) -> None:
        """Scrolls by what is visible."""
        self.move(pages * max(1, self.size.height - 2))

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.move(-WHEEL)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.move(WHEEL)

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        row = self._row
        if row is None:
            return []
        lines = [self.line()] * 2 if self._below else []
        lines += [self._head(row, cells), self.line(), *self._summary(row, cells)]
        lines += [*self._as_asked(row, cells), self.line()]
        if self._whole or cells < FULL_WIDTH_FROM:
            lines += [*self._facts(row, cells), self.line()]
        lines += self._steps(row, cells)
        what, command = mend(row)
        if what:
            lines += [self.line(), *self._mend(what, command, cells)]
        self._deepest = max(0, len(lines) - rows)
        self._top = min(self._top, self._deepest)
        return lines[self._top : self._top + rows]

    @property
    def _ink(self) -> Token:
        return "off" if self._stale else "fg"

    def _head(self, row: HistoryRow, cells: int) -> StyledLine:
        line = self.line().add(" ")
        words = safe_text(f"{row.glyph} {row.outcome}".strip())
        if row.alarm:
            line.add(f" {words} ", "alarm_ink", on="alarm", bold=True)
        else:
            line.add(" ").add(words, self._ink, bold=True)
        name, _ = day(row.at, self._now_us, self._zone)
        line.right(f"{name} ", "dim")
        room = cells - line.right_cells - 2
        tool, _ = in_columns(row.tool, row.summary, TOOL_CHARS)
        for gap, text, ink, bold in (
            (3, safe_text(tool[:TOOL_CHARS]), self._ink, False),
            (3, safe_text(row.label[:60]), self._ink, True),
            (2, safe_text(row.agent[:20]), "dim", False),
            (3, short_id(row.request) if row.request else "", "dim", False),
        ):
            if text and line.left_cells + gap + width(text) <= room:
                token: Token = self._ink if ink != "dim" else "dim"
                line.add(" " * gap).add(text, token, bold=bold)
        return line

    def _summary(self, row: HistoryRow, cells: int) -> list[StyledLine]:
        if not row.summary:
            return [
                self.line().to(2).fit("the journal does not keep what it was", cells - 3, "dim")
            ]
        _, call = in_columns(row.tool, row.summary, TOOL_CHARS)
        if not self._whole and cells >= FULL_WIDTH_FROM:
            line = self.line().to(2)
            return [line.fit(covered(call[:LONGEST]), cells - 3, self._ink, bold=True)]
        room = cells - 3
        wrapped = lay_out(call[:APPROVABLE_CHARS], (), room, lines=True)
        lines = []
        for each in wrapped if self._whole else wrapped[: 2 * SHORT_SUMMARY]:
            lines.append(self.line().to(2))
            draw_row(lines[-1], each, room)
        return lines

    def _as_asked(self, row: HistoryRow, cells: int) -> list[StyledLine]:
        """Returns the lines of what the agent had asked for, where something else ran."""
        if row.asked is None:
            return []
        token: Token = "off" if self._stale else RISK_TOKEN.get(row.asked.risk, "high")
        line = self.line().to(2).add(row.asked.verb, "dim").to(WORDS).add("asked: ", "dim")
        if row.asked.risk != "unknown":
            words = f"{RISK_GLYPH.get(row.asked.risk, '!!')} {safe_text(row.asked.risk).upper()}  "
            line.add(words, token, bold=True)
        if not self._whole:
            return [line.fit(covered(row.asked.summary), cells - line.left_cells - 1, self._ink)]
        return [line, *self._wrapped(row.asked.summary, cells, LONGEST_ASKED)]

    def _facts(self, row: HistoryRow, cells: int) -> list[StyledLine]:
        """Returns the columns that the list has or leaves out, as labelled lines."""
        risk_line = self.line().to(2).add("risk", "dim").to(WORDS)
        token: Token = "off" if self._stale else RISK_TOKEN.get(row.risk, "high")
        risk_line.add(
            f"{RISK_GLYPH.get(row.risk, '!!')} {safe_text(row.risk).upper()}", token, bold=True
        )
        lines = [risk_line]
        for name, value in (
            ("by", by_words(row)),
            ("rule", safe_text(row.rule) if row.rule not in row.by else ""),
            ("reason", covered(row.reason)),
            ("why", covered(row.why)),
            ("took", machine(row.took_ms) if row.took_ms is not None else ""),
            ("waited", person(row.waited_s) if row.waited_s else ""),
            ("cwd", safe_text(home(row.cwd, self._home))),
            ("asked by", self._asked),
        ):
            if value:
                line = self.line().to(2).add(name, "dim").to(WORDS)
                lines.append(line.fit(value, cells - WORDS - 1, self._ink))
        return lines

    def _steps(self, row: HistoryRow, cells: int) -> list[StyledLine]:
        if not self._records and self._stale:
            return [self.line().to(2).add("its records come from the core, which is lost", "dim")]
        if self._records is None:
            return [self.line().to(2).add("looking for its records ...", "dim")]
        timeline = timeline_of(self._records, row, self._home)
        if not timeline:
            return [self.line().to(2).add(f"its records are {NOT_RECORDED}", "dim")]
        lines: list[StyledLine] = []
        for number, step in enumerate(timeline):
            lines += self._step(step, cells, first=number == 0)
        return lines

    def _step(self, step: TimelineStep, cells: int, *, first: bool) -> list[StyledLine]:
        line = self.line().to(2).add(self._clock(step.at), "dim").to(WORDS)
        seq = count(step.seq)
        line.right(f"record {seq} " if first and cells >= FULL_WIDTH_FROM else f"{seq} ", "dim")
        one = cells >= WIDE
        end = ABOUT if one else cells - line.right_cells
        line.fit(step.words, end - WORDS - 1, self._ink, bold=step.loud)
        if one:
            self._about(line.to(ABOUT), step, cells - ABOUT - line.right_cells - 2)
            return [line]
        about = f"{step.about}   {step.remark}".strip()
        return [line, *self._wrapped(about, cells, LONGEST_STEP)] if about else [line]

    def _wrapped(self, text: str, cells: int, rows: int) -> list[StyledLine]:
        """Wraps a text into as many lines as it needs, `rows` at most, below the words."""
        room, lines = cells - WORDS - 1, []
        wrapped = plain(text, room)
        for number, each in enumerate(wrapped[:rows]):
            lines.append(self.line().to(WORDS))
            cut_off = number == rows - 1 and len(wrapped) > rows
            draw_row(lines[-1], each, room - len(DOTS) if cut_off else room)
            if cut_off:
                lines[-1].add(DOTS, "dim")
        return lines

    def _about(self, line: StyledLine, step: TimelineStep, room: int) -> None:
        quiet = step.words in ("asked", "ran", "hooks", "as decided")
        shown, dots = cut(step.about, room)
        line.add(shown, "off" if self._stale else "dim" if quiet else "fg").add(dots, "dim")
        left = room - width(shown) - width(dots) - 3
        if step.remark and left >= 8:
            line.add("   ").fit(step.remark, left, "dim")

    def _mend(self, what: str, command: str, cells: int) -> list[StyledLine]:
        line = self.line().to(2).add("what to do", "dim").to(WORDS)
        if cells - WORDS - 1 >= width(what) + 2 + width(command):
            return [line.add(what, self._ink).add("  ").add(command, self._ink, bold=True)]
        below = self.line().to(WORDS).fit(command, cells - WORDS - 1, self._ink, bold=True)
        first, *more = plain(what, cells - WORDS - 1)
        draw_row(line, first, cells - WORDS - 1)
        lines = [line]
        for each in more:
            lines.append(self.line().to(WORDS))
            draw_row(lines[-1], each, cells - WORDS - 1)
        return [*lines, below]

    def _clock(self, at_us: int) -> str:
        return f"{clock(at_us, self._zone)}.{at_us // 1000 % 1000:03d}"

"""The dock's lines in its four sizes, and whether they show all of the request."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.core.model.outcomes import ENDINGS
from watchgate.core.model.views import PendingView, Settled
from watchgate.core.state.asked_call import line_of
from watchgate.core.tools.summary import shown_text
from watchgate.ui.approval.arming import Intent
from watchgate.ui.approval.consequences import after, note, seconds_left, silence
from watchgate.ui.approval.decision_requests import ended
from watchgate.ui.base.formats import (
    DOTS,
    ago,
    covered,
    cut,
    cut_front,
    cut_name,
    home,
    short_id,
    width,
)
from watchgate.ui.base.theme import Palette
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.countdown import BAR_GONE, countdown_bar, words_left, words_right
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.remaining_input import remaining_input
from watchgate.ui.widgets.base.request_text import (
    Piece,
    asked_rows,
    draw_row,
    lay_out,
    lead,
    plan_rows,
    row_cells,
)
from watchgate.ui.widgets.base.request_words import (
    APPROVABLE_CHARS,
    reasons_of,
    safer_way,
    subject_chip,
    subject_token,
    too_long,
    touched_row,
)
from watchgate.ui.widgets.base.text_masking import masking_of

NARROW = 80
ROOMY = 100
INDENT = 2
LONGEST_BAR = 24
SHORT_BAR = 14
SHORTEST_BAR = 6
LABEL_CELLS = 16
TOOL_SHARE = 4
"""A tool's name takes that part of a line at most: what follows it names the request."""
LONGEST_PATH = 40
SHORTEST_PATH = 7
SHORTEST_TOUCH = 12
TOUCH_COLUMN = 9
APART = 12
"""The cells that a label and the gap before it take, at most."""


class DockView(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of the dock: the request and its place in the queue, or the last decision.

    `one_line` is the form outside the monitor; `blocked` has the reasons why keys cannot decide it;
    `home` is shown as `~`; `quiet` are the words for silence when nothing pends, `idle` the title
    then. `marked` counts the marked requests where this is one of them; with `bare` its secrets
    are shown; `hint` is how its session was answered so far.
    """

    now_us: int
    pending: PendingView | None = None
    place: int = 1
    count: int = 0
    last: Settled | None = None
    one_line: bool = False
    blocked: Mapping[Intent, str] = {}
    home: str = ""
    quiet: str = "silence means denied"
    idle: str = "nothing pending"
    marked: int = 0
    bare: bool = False
    hint: str = ""

    @property
    def left_s(self) -> float | None:
        """The seconds that silence still has."""
        return seconds_left(self.pending.data, self.now_us) if self.pending else None


class DockPicture(msgspec.Struct, frozen=True):
    """The lines of the dock, and whether all that would run can be read in them."""

    lines: list[StyledLine]
    complete: bool = False


def dock_rows(columns: int, rows: int, docked: DockView, *, flat: bool = False) -> int:
    """Returns the lines of the dock on a screen of this size; one more where surfaces are alike."""
    if docked.pending is None or docked.one_line:
        return 1
    if columns < NARROW:
        return 5 + flat
    return (8 if rows >= 30 else 6) + flat


def draw_dock(docked: DockView, cells: int, rows: int, colors: Palette) -> DockPicture:
    """Draws the dock at a size."""
    if docked.pending is None:
        return DockPicture([_idle(docked, cells, colors)])
    frame = _DockFrame(docked, docked.pending, cells, colors)
    if rows < 5:
        return DockPicture([frame.single()])
    rows -= colors.flat
    drawn = frame.narrow() if rows == 5 else frame.wide(tall=rows >= 8)
    if not colors.flat:
        return drawn
    rule = StyledLine(colors, "s1").add(BAR_GONE * cells, subject_token(docked.pending.data))
    return DockPicture([rule, *drawn.lines], drawn.complete)


class _DockFrame:
    def __init__(self, docked: DockView, view: PendingView, cells: int, colors: Palette) -> None:
        self.docked, self.view, self.data = docked, view, view.data
        self.cells, self.colors = cells, colors
        self.room = cells - INDENT - 1
        data = view.data
        if data.asks == "question":
            self.rows = asked_rows(data.questions, self.room, lead(data))
        elif data.asks == "plan":
            self.rows = plan_rows(shown_text(data.tool, data.summary), self.room, air=False)
        else:
            text = shown_text(data.tool, data.summary)
            masking = masking_of(data, bare=docked.bare)
            # What is longer is never allowed from here, and to lay it out takes seconds.
            self.rows = lay_out(text[:APPROVABLE_CHARS], data.findings, self.room, masking=masking)
        self.rest = remaining_input(data, bare=docked.bare)
        self.words = silence(view.data, view.agent, docked.left_s, whole=cells >= ROOMY)

    def wide(self, *, tall: bool) -> DockPicture:
        if self.data.asks != "approval":
            return self.asked(5 if tall else 4, tall=tall)
        command, whole = self.command(3)
        blanks = [self.line() for _ in range(3 - len(command))]
        middle = [*blanks[:1], *command, *blanks[1:]]
        facts, facts_shown = self.facts(noted=not tall)
        if tall:
            lines = [self.line(), self.head(), *middle, self.why(9), facts, self.end()]
        else:
            safer = self.safer(self.line())
            if safer is not None and len(command) == 1:
                middle = [*blanks[:1], *command]
            else:
                safer = None
            lines = [self.head(), *middle, self.why(9), *([safer] if safer else []), facts]
        return self.done(lines, whole and facts_shown)

    def end(self) -> StyledLine:
        """Returns the last line: what an allow leads to, a safer way, the session's answers."""
        line = self.line().add(note(self.data, self.view.agent))
        if line.left_cells > INDENT:
            line.add("     ")
        line = self.safer(line) or line
        if line.left_cells + len(self.docked.hint) + 4 <= self.cells:
            line.right(f"{self.docked.hint} ", "dim")
        return line

    def safer(self, line: StyledLine) -> StyledLine | None:
        """Adds the safer way to a line; None where no rule suggests one."""
        suggestion = safer_way(self.data)
        if not suggestion:
            return None
        first = line.left_cells == INDENT
        line.add("safer  ", "dim").to(9 if first else 0)
        return line.fit(suggestion, self.cells - line.left_cells - 1)

    def asked(self, row_limit: int, *, tall: bool) -> DockPicture:
        """Draws a question or plan; nothing is known but its own words, so they get the room."""
        command, whole = self.command(row_limit)
        blanks = [self.line() for _ in range(row_limit - len(command))]
        last = self.line().fit(after(self.data, self.view.agent), self.room, "dim")
        top = [self.line()] if tall else []
        return self.done([*top, self.head(), *command, *blanks, last], whole and not self.rest.text)

    def narrow(self) -> DockPicture:
        if self.data.asks != "approval":
            command, whole = self.command(3)
            blanks = [self.line() for _ in range(3 - len(command))]
            all_shown = whole and not self.rest.text
            return self.done([self.head(), *command, *blanks, self.countdown()], all_shown)
        command, whole = self.command(2)
        facts, all_shown = self.facts(noted=True)
        one = len(command) == 1
        third = facts if one else self.why(7)
        all_shown = all_shown and (one or not self.rest.text)
        lines = [self.head(), *command, *([self.why(7)] if one else []), third]
        return self.done([*lines, self.countdown()], whole and all_shown)

    def single(self) -> StyledLine:
        line = self.line()
        subject_chip(line, self.data)
        self.who(line, agent=False)
        line.add("   ")
        if self.cells >= 100:
            self.bar(line, longest=SHORT_BAR)
        else:
            words_right(line, self.words, self.docked.left_s)
            line.right(" ")
        summary = covered(self.data.summary)
        return line.fit(summary, self.cells - line.left_cells - line.right_cells - 3)

    def done(self, lines: list[StyledLine], shown: bool) -> DockPicture:
        return DockPicture(lines, shown and not too_long(self.data))

    def line(self) -> StyledLine:
        line = StyledLine(self.colors, "s1")
        return line.add(" ", on=subject_token(self.data)).to(INDENT)

    def head(self) -> StyledLine:
        line = self.line()
        subject_chip(line, self.data)
        narrow = self.cells < NARROW
        self.who(line, agent=not narrow)
        if narrow:
            return line.right(f"{self.place()} ", "dim")
        if self.cells >= 100:
            line.add(f"   {self.place()}", "dim")
        return self.bar(line)

    def who(self, line: StyledLine, *, agent: bool) -> None:
        name = cut(safe_text(self.data.tool.name[:80]), self.cells // TOOL_SHARE)
        line.add(f"   {''.join(name)}   ")
        line.add(cut_name(safe_text(self.view.label[:80]), LABEL_CELLS), bold=True)
        if agent:
            line.add(f"  {''.join(cut(safe_text(self.view.agent[:20]), LABEL_CELLS))}", "dim")
        line.add(f"   {short_id(self.view.id)}", "dim")

    def place(self) -> str:
        docked = self.docked
        place = f"{docked.place} of {docked.count}" if docked.count > 1 else ""
        marked = f"marked {docked.marked}" if docked.marked else ""
        return "   ".join(filter(None, (place, marked)))

    def bar(self, line: StyledLine, *, longest: int = LONGEST_BAR) -> StyledLine:
        """Adds the countdown at the right end, with a bar where there is room."""
        left_s = self.docked.left_s
        room = self.cells - line.left_cells - len(self.words) - 7
        if left_s is not None and room >= SHORTEST_BAR:
            for stretch, ink in countdown_bar(left_s, self.data.timeout_s, min(longest, room)):
                line.right(stretch, ink)
            line.right("   ")
        words_right(line, self.words, left_s)
        return line.right(" ")

    def countdown(self) -> StyledLine:
        line = self.line()
        words_left(line, self.words, self.docked.left_s)
        line.add("  ")
        if self.docked.left_s is not None:
            room = self.cells - line.left_cells - 1
            for stretch, ink in countdown_bar(self.docked.left_s, self.data.timeout_s, room):
                line.add(stretch, ink)
        return line

    def command(self, row_limit: int) -> tuple[list[StyledLine], bool]:
        """Returns at most so many lines of the command, and whether that is all of it."""
        lines: list[StyledLine] = []
        missing = len(self.rows) - row_limit
        for number, row in enumerate(self.rows[:row_limit]):
            line = self.line()
            if missing > 0 and number == row_limit - 1:
                more = f"+{missing} lines, "
                line.right(more, "dim").right(key_for("view"), "accent", bold=True).right(
                    " to view ", "dim"
                )
                # The text goes on in the next row: its dots say so even where this row would fit.
                room = self.cells - INDENT - line.right_cells - 2
                if row_cells(row) + len(DOTS) <= room:
                    draw_row(line, (*row, Piece(DOTS, "dim")), room)
                else:
                    draw_row(line, (*row, Piece("more")), room)
            else:
                draw_row(line, row, self.room)
            lines.append(line)
        return lines, missing <= 0

    def why(self, column: int) -> StyledLine:
        line = self.line().add("why", "dim").to(column)
        return line.fit(reasons_of(self.data), self.cells - column - 1)

    def facts(self, *, noted: bool) -> tuple[StyledLine, bool]:
        """Returns the line of facts (folder, rule, other input), and whether all of them fit."""
        line = self.line()
        if self.place() and NARROW <= self.cells < 100:
            line.right(f"{self.place()} ", "dim")
        room = self.cells - line.right_cells - (3 if line.right_cells else 1)
        others = self.rest
        about = note(self.data, self.view.agent) if noted else ""
        cwd = home(covered(self.data.cwd), self.docked.home)
        needed = (min(width(cwd), LONGEST_PATH // 2), width(about), width(others.text))
        remarks = sum(cells + APART for cells in needed[1:] if cells)
        self.touch(line, room - remarks, needed[0])
        # What an allow leads to is not cut; what is left tells the end of the path.
        touches = line.left_cells > INDENT
        taken = line.left_cells + APART if touches else 14 if self.cells >= NARROW else 12
        left = min(LONGEST_PATH, room - width(about) - taken if about or touches else LONGEST_PATH)
        all_shown = others.whole and left >= SHORTEST_PATH
        facts = [("cwd", cut_front(cwd, left) if left >= SHORTEST_PATH else ""), ("", about)]
        if self.cells < NARROW:
            facts.reverse()
        for label, value in (*facts, ("input", others.text)):
            all_shown = self.fact(line, label, value, room) and all_shown
        if width(self.data.rule) + 11 <= room - line.left_cells:
            self.fact(line, "rule", safe_text(self.data.rule), room)
        return line, all_shown

    def touch(self, line: StyledLine, room: int, path: int) -> None:
        """Adds what the call would touch, in so many cells of the line less those of the path.

        The path is cut where that leaves room for all that would be lost for good.
        """
        row, view = touched_row(self.view), self.view
        widest = room - (path + APART if path else 0)
        grave = tuple(fact for fact in view.facts if fact.grave)
        if grave and path > SHORTEST_PATH:
            lost = touched_row(msgspec.structs.replace(view, facts=grave))
            others = len(DOTS) if len(grave) < len(view.facts) else 0
            needed = TOUCH_COLUMN + row_cells(lost) + others
            widest = max(widest, needed) if needed <= room - SHORTEST_PATH - APART else widest
        room = widest
        if not row or room < SHORTEST_TOUCH + line.left_cells:
            return
        left = room - line.add("touch", "dim").to(TOUCH_COLUMN).left_cells
        if row_cells(row) > left:  # what would be lost for good must not be what is cut
            facts = tuple(sorted(view.facts, key=lambda fact: not fact.grave))
            row = touched_row(msgspec.structs.replace(view, facts=facts))
        draw_row(line, row, left, underline=False)

    def fact(self, line: StyledLine, label: str, value: str, room: int) -> bool:
        """Adds a labelled value to the line; False when that cut it."""
        if not value:
            return True
        first = line.left_cells == INDENT
        line.add("" if first else "     ")
        if label:
            line.add(f"{label}  ", "dim")
        if first and label == "cwd" and self.cells >= NARROW:
            line.to(9)
        left = room - line.left_cells
        line.fit(value, left)
        return width(value) <= left


def _idle(docked: DockView, cells: int, colors: Palette) -> StyledLine:
    line = StyledLine(colors, "s1").add(" ", on="s2").to(INDENT)
    line.add(docked.idle, bold=True)
    if cells >= NARROW:
        line.right(f"{docked.quiet} ", "dim")
    last = docked.last
    if last is None:
        return line
    ending, by, who = ended(last.word, last.by).partition(" by ")
    glyph = ENDINGS[last.word].glyph if last.word in ENDINGS else ""
    line.add("     last: ", "dim").add(f"{glyph} {ending}").add(
        f"  {short_id(last.request)}", "dim"
    )
    when = f"{ago((docked.now_us - last.at) / 1_000_000)} ago"
    after = f"{by.lstrip()}{who}, {when}" if who else when
    room = cells - line.left_cells - line.right_cells - 3
    if width(after) > room:
        after = when if width(when) <= room else ""
    summary = room - len(after) - 4
    if summary >= 8:
        line.add("  ").fit(covered(line_of(last)), summary)
    return line.add("  ").add(after, "dim")

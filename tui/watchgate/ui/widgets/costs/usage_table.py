"""The sessions with their tokens and cost, one line each, and their sum.

Narrow tables lose whole columns, never half.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
from textual.events import Click, MouseScrollDown, MouseScrollUp

from watchgate.core.base.amounts import UNKNOWN, count, plural, tokens
from watchgate.ui.base.formats import cut_name, percent
from watchgate.ui.base.theme import Token
from watchgate.ui.costs.cost_figures import CostRow, Costs, Key
from watchgate.ui.costs.cost_sums import LOWER_BOUND_MARK, Sum, dollars, mark
from watchgate.ui.costs.sparks import spark
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.costs.cost_words import bar, safe_name

WIDE, MIDDLE = 112, 76
SPARK_FROM = 156
"""From so many cells each session has its costs over time, and their source in a word."""

MARK_CELLS, WORD_CELLS, SPARK_CELLS = 4, 12, 14


class CostColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Cells at which columns begin, or, for numbers, end (exclusive); 0: left out.

    `bar` is how many cells the longest bar of the column `share` takes, `fill` those of `context`.
    `mark` is the cell of the cost's source, a letter or (`words`) a word.
    """

    session: int = 2
    agent: int = 0
    model: int = 0
    model_end: int = 0
    read: int = 0
    written: int = 0
    cached: int = 0
    cost: int = 0
    mark: int = 0
    words: bool = False
    spark: int = 0
    share: int = 0
    bar: int = 0
    context: int = 0
    fill: int = 0
    percent: int = 0


def columns(cells: int) -> CostColumns:
    """Returns the columns that fit in so many cells."""
    if cells < MIDDLE:
        end = cells - 1
        cost = end - 10
        return CostColumns(
            read=cost - 18, written=cost - 9, cost=cost, mark=cost + 1,
            percent=end if cells >= 56 else 0,
        )  # fmt: skip
    if cells < WIDE:
        end = cells - 2
        cost = end - 23
        return CostColumns(
            agent=13, read=cost - 20, written=cost - 11, cost=cost, mark=cost + 1,
            context=end - 17, fill=10, percent=end,
        )  # fmt: skip
    wide = cells - 120
    name = max(0, wide // 4)
    model = 13 + 10 + name
    left = model + 33 + wide // 4
    cost = left + 28
    rest = cells - 2
    context = rest - 16
    words = cells >= SPARK_FROM
    after = cost + 1 + (WORD_CELLS if words else MARK_CELLS)
    spark = after if words else 0
    share = after + SPARK_CELLS if words else after
    return CostColumns(
        agent=13 + name, model=model, model_end=left - 8, read=left, written=left + 9,
        cached=left + 18, cost=cost, mark=cost + 1, words=words, spark=spark,
        share=share, bar=context - 3 - share, context=context, fill=10, percent=rest,
    )  # fmt: skip


WHEEL = 3
FULL = 0.8
"""From so much of the context on, its percentage is bold."""


class CostTable(Pane):
    """A table whose cursor belongs to a session and never moves by itself when lines are sorted."""

    DEFAULT_CSS = "CostTable { height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self._costs: Costs | None = None
        self._narrowed = ""
        self._stale = False
        self._cursor: Key | None = None
        self._index = 0
        self._top = 0
        self._room = 1

    @property
    def _today(self) -> bool:
        return self._costs is None or self._costs.window == 1

    @property
    def rows(self) -> Sequence[CostRow]:
        """The lines, in their order."""
        return self._costs.rows if self._costs is not None else ()

    @property
    def selected(self) -> CostRow | None:
        """The session under the cursor."""
        return self.rows[self._index] if self.rows else None

    def show(self, costs: Costs, *, narrowed: str = "", stale: bool = False) -> None:
        """Shows these sessions; `narrowed` is the filter that they passed."""
        if (costs, narrowed, stale) == (self._costs, self._narrowed, self._stale):
            return
        self._costs, self._narrowed, self._stale = costs, narrowed, stale
        places = {row.key: place for place, row in enumerate(costs.rows)}
        last = max(0, len(costs.rows) - 1)
        self._index = places.get(self._cursor, min(self._index, last)) if self._cursor else 0
        if costs.rows and self._cursor not in places:
            self._cursor = costs.rows[self._index].key
        self.redraw()

    def move(self, by: int) -> None:
        """Moves the cursor by so many sessions, no further than the first or last."""
        if self.rows:
            self._index = min(max(0, self._index + by), len(self.rows) - 1)
            self._cursor = self.rows[self._index].key
            self.redraw()

    def page(self, pages: int) -> None:
        """Moves by what is visible."""
        self.move(pages * max(1, self._room))

    def jumps(self) -> list[Jump]:
        """Returns the sessions that are visible now."""
        x, y, _, _ = self.region
        return [
            Jump(x, y + 1 + line, partial(self._go_to, row.key), ("cost", *row.key))
            for line, row in enumerate(self.rows[self._top : self._top + self._room])
        ]

    def _go_to(self, key: Key) -> None:
        """Puts the cursor on a session, if it is still there."""
        for place, row in enumerate(self.rows):
            if row.key == key:
                self.move(place - self._index)
                return

    def lines_wanted(self) -> int:
        """Returns the lines that it takes to show every session."""
        return max(1, len(self.rows)) + 2

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        costs = self._costs
        if costs is None:
            return []
        at = columns(cells)
        lines = [self._head(at)]
        if not costs.rows:
            return lines + self._none(cells)
        self._room = max(1, min(rows - 2, len(costs.rows)))
        deepest = max(0, len(costs.rows) - self._room)
        self._top = min(max(min(self._top, deepest), self._index - self._room + 1), self._index)
        shown = costs.rows[self._top : self._top + self._room]
        lines += [
            self._row(row, at, chosen=number == self._index)
            for number, row in enumerate(shown, start=self._top)
        ]
        hidden = len(costs.rows) - len(shown)
        return [*lines, self._sum(costs, at, hidden)]

    def on_click(self, event: Click) -> None:
        number = self._top + event.y - 1
        if 0 <= event.y - 1 < self._room and number < len(self.rows):
            self.move(number - self._index)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.move(-WHEEL)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.move(WHEEL)

    def _none(self, cells: int) -> list[StyledLine]:
        if not self._narrowed:
            return [
                self.line().to(2).fit("no session used anything in this time", cells - 3, "dim")
            ]
        line = self.line().to(2).fit(f"none passes {safe_name(self._narrowed)}", cells - 3)
        return [line, self.line().to(2).add(key_for("back"), "accent", bold=True).add(" clears it")]

    def _head(self, at: CostColumns) -> StyledLine:
        quiet: Token = "off" if self._stale else "dim"
        line = self.line().to(at.session).add("session", quiet)
        for place, word in ((at.agent, "agent"), (at.model, "model")):
            if place:
                line.to(place).add(word, quiet)
        for end, word in (
            (at.read, "in"), (at.written, "out"), (at.cached, "cached"), (at.cost, "cost"),
        ):  # fmt: skip
            if end:
                line.to(end - len(word)).add(word, quiet)
        if at.spark:
            line.to(at.spark).add("last hour" if self._today else "14 days", quiet)
        if at.share:
            line.to(at.share).add("share", quiet)
        if at.context:
            line.to(at.context).add("context", quiet)
        elif at.percent:
            line.to(at.percent - 3).add("ctx", quiet)
        return line

    def _row(self, row: CostRow, at: CostColumns, *, chosen: bool) -> StyledLine:
        ink: Token = "off" if self._stale else "fg"
        quiet: Token = "off" if self._stale else "dim"
        line = self.line("sel" if chosen else "bg")
        line.add(">" if chosen else " ", "off" if self._stale else "accent", bold=True)
        session = (at.agent or at.read - 8) - at.session - 1
        line.to(at.session).add(cut_name(safe_name(row.label), session), ink, bold=True)
        if at.agent:
            room = (at.model or at.read - 8) - at.agent - 1
            line.to(at.agent).fit(safe_name(row.key[0]), room, quiet)
        if at.model:
            room = at.model_end - at.model
            line.to(at.model).fit(safe_name(row.model) or UNKNOWN, room, ink)
        _ends(line, tokens(row.tokens.read if row.tokens else None), at.read, ink)
        _ends(line, tokens(row.tokens.output if row.tokens else None), at.written, ink)
        if at.cached:
            _ends(line, percent(row.cached), at.cached, ink)
        _ends(line, dollars(row.cost), at.cost, ink, bold=True)
        if row.cost is not None:
            line.to(at.mark).add(
                mark(row.source, is_lower_bound=row.is_lower_bound, word=at.words), quiet
            )
        if at.spark and row.spark:
            line.to(at.spark).add(spark(row.spark[2 - SPARK_CELLS :]), "faint")
        if at.share:
            line.to(at.share)
            if row.share is None:
                line.add(UNKNOWN, quiet)
            else:
                bar(line, row.share, at.bar, "off" if self._stale else "accent")
        return self._filled(line, row, at)

    def _filled(self, line: StyledLine, row: CostRow, at: CostColumns) -> StyledLine:
        ink: Token = "off" if self._stale else "fg"
        full = row.context
        if full is None:
            place = at.context or at.percent - 1
            return line.to(place).add(UNKNOWN, "off" if self._stale else "dim")
        if at.context:
            line.to(at.context)
            bar(line, full, at.fill, ink)
            line.add("─" * (at.context + at.fill - line.left_cells), "faint")
        if at.percent:
            _ends(line, percent(full), at.percent, ink, bold=full >= FULL)
        return line

    def _sum(self, costs: Costs, at: CostColumns, hidden: int) -> StyledLine:
        quiet: Token = "off" if self._stale else "dim"
        ink: Token = "off" if self._stale else "fg"
        line = self.line().to(at.session).add(plural(len(costs.rows), "session"), quiet)
        if hidden and at.agent:
            line.add(f", {count(hidden)} not shown", quiet)
        if costs.tokens is not None:
            _ends(line, tokens(costs.tokens.read), at.read, quiet)
            _ends(line, tokens(costs.tokens.output), at.written, quiet)
        _ends(line, dollars(costs.all.cost), at.cost, ink, bold=True)
        if costs.all.cost is None:
            return line
        if not (at.share or at.context):
            return line.to(at.mark).add(LOWER_BOUND_MARK if costs.all.is_lower_bound else "", quiet)
        place = at.spark or at.share or at.mark
        room = at.percent - place
        description = _of_sum(costs.all)
        return line.to(place).add(
            description if len(description) <= room else _of_sum(costs.all, short=True), quiet
        )


def _of_sum(known: Sum, *, short: bool = False) -> str:
    """Describes a sum: whether it is a lower bound, and how much of it is computed."""
    words = ["at least"] if known.is_lower_bound else []
    if known.computed == known.cost and known.computed:
        words.append("computed")
    elif known.computed:
        words.append(f"{dollars(known.computed)} {'c' if short else 'computed'}")
    return ", ".join(words)


def _ends(line: StyledLine, text: str, end: int, ink: Token, *, bold: bool = False) -> None:
    """Adds a number so that it ends at a cell.

    Args:
        line: The line to add to.
        text: The number as text.
        end: The cell behind its last digit.
        ink: Its colour.
        bold: Whether it is bold.
    """
    line.to(end - len(text)).add(text, ink, bold=bold)

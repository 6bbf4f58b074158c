"""The costs screen: sessions, models, agents and days, each with the source of its figures.

On a low terminal the lower parts lose their lines first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from watchgate.core.base.amounts import tokens
from watchgate.core.base.text import safe_text
from watchgate.core.filters.filter_parser import Value, parse
from watchgate.core.history.history_row import host_of, session_names
from watchgate.core.model.session_view import SessionView
from watchgate.ui.base.formats import cut, percent
from watchgate.ui.base.terminal_shape import TerminalShape
from watchgate.ui.costs.cost_figures import (
    SORTS,
    WINDOW_WORDS,
    WINDOWS,
    CostRow,
    Costs,
    costs,
    dated,
)
from watchgate.ui.costs.cost_sums import dollars, mark
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.keymap import Where
from watchgate.ui.screens.screen_frame import Frame
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.costs.cost_charts import (
    FIRST_DAY,
    CostDays,
    CostRanked,
    CostWhere,
    by_agent,
    by_model,
    days_in,
)
from watchgate.ui.widgets.costs.cost_overview import (
    CostEmpty,
    CostEmptyKind,
    CostLimits,
    CostTotals,
)
from watchgate.ui.widgets.costs.cost_session import CostSession
from watchgate.ui.widgets.costs.usage_table import CostTable
from watchgate.ui.widgets.key_bars import Part

SIDE_FROM = 100
"""From so many columns the days stand beside the models."""
LOWER_TALL, LOWER_SHORT = 14, 6
WENT_LINES, MODELS_MIN = 6, 3
LIMITS_TALL, LIMITS_SHORT = 3, 1
CHART_LINES = 14
TWO_GAPS_FROM, NO_GAPS_TO = 36, 24
TABLE_MIN = 8
"""Lines that the table of sessions has at least: its head, its sum and six sessions."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The lines that it would take to show all of each part."""

    limits: int
    table: int
    models: int
    agents: int


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of each part with the empty ones below it; 0: it is left out."""

    totals: int
    limits: int
    table: int
    lower: int
    models: int
    days: int
    agents: int


def layout(shape: TerminalShape, wanted: Wanted) -> Layout:
    """Returns the places of that screen's lines.

    Empty rows: two before a section on a tall screen, one on a middling, none on a low one. Rate
    limits stand in the middle of those below the totals.
    """
    gap = 2 if shape.rows >= TWO_GAPS_FROM else int(shape.rows > NO_GAPS_TO)
    limits = min(wanted.limits, LIMITS_TALL if shape.tall else LIMITS_SHORT)
    one = min(gap, 1)
    above = one if limits else gap
    rows = shape.rows - 3 - (0 if not shape.tabs else 2 if shape.tall else 1)
    room = rows - 2 - above - (limits + one if limits else 0)
    table = _table(room, gap, wanted.table, tall=shape.tall)
    lower = room - table - gap if table < room else 0
    both = lower - gap - WENT_LINES
    chart = CHART_LINES + one
    fits = shape.columns >= SIDE_FROM and lower >= chart + wanted.agents
    agents = wanted.agents if fits else 0
    return Layout(
        totals=2 + above,
        limits=limits + one if limits else 0,
        table=table + (gap if lower else 0),
        lower=lower,
        models=gap + min(wanted.models, both) if both >= MODELS_MIN else lower,
        days=chart if agents else lower,
        agents=agents,
    )


def _table(room: int, gap: int, wanted: int, *, tall: bool) -> int:
    """The lines of the sessions: all of the room where it is too little for more."""
    for lower in (LOWER_TALL, LOWER_SHORT) if tall else (LOWER_SHORT,):
        left = room - gap - lower
        if left >= min(wanted, TABLE_MIN):
            return min(wanted, left)
    return room


CHART_LEFT = 52


class CostsScreen(Frame):
    """The table has the keys, or (after Enter) the page of the session chosen there."""

    where: Where = "costs"
    tab = "Costs"
    narrowed = ""

    def __init__(self) -> None:
        super().__init__()
        self.totals = CostTotals()
        self.table = CostTable()
        self.limits = CostLimits()
        self.models = CostRanked("model", by_model)
        self.agents = CostRanked("agent", by_agent, left=FIRST_DAY)
        self.went = CostWhere()
        self.days = CostDays()
        self.session = CostSession()
        self.empty = CostEmpty()
        self.figures = Vertical(id="cost-figures")
        self.left = Vertical(id="cost-left")
        self.right = Vertical(id="cost-right")
        self.lower = Horizontal(id="cost-lower")
        self._window, self._sort = WINDOWS[0], SORTS[0]
        self._inside = False
        self._costs: Costs | None = None
        self._moment: ViewModel | None = None
        self._was: object = None

    def body(self) -> Iterable[Widget]:
        """Yields totals, sessions, models and days; or a session's page; or what to do."""
        with self.figures:
            yield self.totals
            yield self.limits
            yield self.table
            with self.lower:
                with self.left:
                    yield self.models
                    yield self.went
                with self.right:
                    yield self.days
                    yield self.agents
        yield self.session
        yield self.empty

    @property
    def items(self) -> int:
        """Returns the number of sessions in the table."""
        return len(self.table.rows)

    @property
    def copied(self) -> str:
        """Returns the text to copy: the line under the cursor."""
        row = self.table.selected
        return _as_text(row) if row is not None else ""

    def show(self, moment: ViewModel) -> None:
        """Shows the moment; a frozen view keeps its figures."""
        if moment.frozen_us is None or self._costs is None:
            self._take(moment)
        super().show(moment)
        self._moment = moment
        figures, stale = self._costs, moment.link.lost
        kind = _empty(moment, figures)
        self.empty.display = kind is not None
        self.session.display = kind is None and self._inside
        self.figures.display = kind is None and not self._inside
        if kind is not None or figures is None:
            self.empty.show(kind or "connecting")
            return
        self.totals.show(figures, stale=stale)
        self.table.show(figures, narrowed=self.narrowed, stale=stale)
        self.limits.show(figures, stale=stale)
        self.models.show(figures, stale=stale)
        self.agents.show(figures, stale=stale)
        self.days.show(figures, stale=stale)
        self._show_session()
        self._lay_out(moment.shape)

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """The filter, the window and order where they are not the usual ones, whose prices."""
        parts = super().aside(moment)
        if parts:
            return parts
        if self.narrowed:
            shown, dots = cut(safe_text(self.narrowed), 40 if moment.context.wide else 20)
            return (("/ ", "dim", False), (shown, "fg", True), (dots, "dim", False))
        heading: list[Part] = []
        if self._window != WINDOWS[0]:
            heading.append((f"{WINDOW_WORDS[self._window]}   ", "fg", True))
        if self._sort != SORTS[0]:
            heading += [("by ", "dim", False), (f"{self._sort}   ", "fg", True)]
        if moment.context.wide:
            heading += self._prices()
            if self._costs is None or self._costs.prices_old is None:
                heading.append(("estimates, not your invoice", "dim", False))
        return tuple(heading)

    def _prices(self) -> tuple[Part, ...]:
        """The date of the table of prices, and that it is old; nothing without a table."""
        figures = self._costs
        day = dated(figures.prices) if figures is not None else None
        if figures is None or day is None:
            return ()
        parts: list[Part] = [("prices of ", "dim", False), (f"{day}", "fg", False)]
        if figures.prices_old is not None:
            return (*parts, (f", {figures.prices_old} days old", "fg", True))
        return (*parts, ("   ", "dim", False))

    def move(self, lines: int) -> None:
        """Moves among the sessions, or scrolls the page of one."""
        if self._inside:
            self.session.move(lines)
            return
        self.table.move(lines)
        self._show_session()

    def page(self, pages: int) -> None:
        """Moves by what is visible."""
        if self._inside:
            self.session.move(pages * max(1, self.session.size.height - 2))
            return
        self.table.page(pages)
        self._show_session()

    def enter(self) -> bool:
        """Opens the page of the session under the cursor."""
        if self.table.selected is not None and not self._inside:
            self._go(inside=True)
        return True

    def leave(self) -> bool:
        """Goes back to the table, then clears its filter; returns whether it left anything."""
        if self._inside:
            self._go(inside=False)
            return True
        return self.narrow("") if self.narrowed else False

    def do(self, action: str) -> bool:
        """Sorts by the next figure, or shows the next window of time."""
        if action == "sort":
            self._sort = SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)]
        elif action == "window":
            self._window = WINDOWS[(WINDOWS.index(self._window) + 1) % len(WINDOWS)]
        else:
            return False
        self._again()
        return True

    def narrow(self, text: str) -> bool:
        """Shows only the sessions that a filter keeps, which has been read before."""
        self.narrowed = text
        self._again()
        return True

    def jumps(self) -> Sequence[Jump]:
        """The sessions that are visible now."""
        return self.table.jumps() if self.table.is_on_screen else ()

    def _go(self, *, inside: bool) -> None:
        self._inside = inside
        self._again()

    def _again(self) -> None:
        """Shows it anew: what the operator asked for is shown in a frozen view, too."""
        self._was = None
        if self._moment is not None:
            self._take(self._moment)
            self.show(self._moment)

    def _take(self, moment: ViewModel) -> None:
        """Computes the figures anew, if anything about them changed, or a second went by."""
        state = moment.state
        columns = moment.shape.columns
        room = columns - CHART_LEFT if columns >= SIDE_FROM else columns - 2
        now = (
            state, state.usage.revision, len(state.sessions), moment.now_us // 1_000_000, room,
            self._window, self._sort, self.narrowed,
        )  # fmt: skip
        if now == self._was:
            return
        self._was = now
        wanted = parse(self.narrowed, now_us=moment.now_us)

        def keep(row: CostRow, view: SessionView | None) -> bool:
            return wanted.matches(_fields(row, view))

        self._costs = costs(
            state,
            moment.now_us,
            window=self._window,
            sort=self._sort,
            days=days_in(room),
            keep=keep if wanted.terms else None,
        )

    def _show_session(self) -> None:
        moment, row = self._moment, self.table.selected
        if moment is None:
            return
        used = moment.state.usage.sessions.get(row.key) if row is not None else None
        self.went.show(row, used, stale=moment.link.lost)
        prices = moment.state.usage.prices
        self.session.show(row, used, prices=prices, stale=moment.link.lost)

    def _lay_out(self, shape: TerminalShape) -> None:
        """Gives each part its lines."""
        figures = self._costs
        wanted = Wanted(
            limits=len(figures.limits) if figures is not None else 0,
            table=self.table.lines_wanted(),
            models=self.models.lines_wanted(airy=shape.tall),
            agents=self.agents.lines_wanted(airy=False),
        )
        lines = layout(shape, wanted)
        parts = (
            (self.totals, lines.totals),
            (self.limits, lines.limits),
            (self.table, lines.table),
            (self.lower, lines.lower),
            (self.models, lines.models),
            (self.days, lines.days),
            (self.agents, lines.agents),
        )
        for part, rows in parts:
            part.display = rows > 0
            part.styles.height = rows
        self.left.display = shape.columns >= SIDE_FROM
        self.left.styles.width = CHART_LEFT


def _fields(row: CostRow, view: SessionView | None) -> dict[str, Value]:
    agent, session = row.key
    return {
        "agent": agent,
        "session": session_names(row.label, session),
        "host": host_of(session),
        "state": str(view.shown) if view is not None else "",
        "text": f"{row.label}  {agent}  {row.model}",
    }


def _as_text(row: CostRow) -> str:
    """A line of the table for the clipboard: names as they are, figures as they are drawn."""
    marked = mark(row.source, is_lower_bound=row.is_lower_bound, word=True)
    words = (
        row.label,
        row.key[0],
        row.model or "?",
        f"in {tokens(row.tokens.read if row.tokens else None)}",
        f"out {tokens(row.tokens.output if row.tokens else None)}",
        f"cached {percent(row.cached)}",
        f"{dollars(row.cost)} {marked}".rstrip(),
        f"context {percent(row.context)}",
    )
    return "  ".join(words)


def _empty(moment: ViewModel, figures: Costs | None) -> CostEmptyKind | None:
    if moment.link.state == "connecting":
        return "connecting"
    if moment.state.usage.sessions and figures is not None:
        return None
    return "no-core" if moment.link.lost else "no-usage"

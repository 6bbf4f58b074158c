"""The top of the Costs screen: sums and rate limits, or usage sources while none is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from watchgate.core.base.amounts import UNKNOWN, tokens
from watchgate.ui.base.formats import percent, width
from watchgate.ui.base.theme import Token
from watchgate.ui.costs.budget_words import of_today
from watchgate.ui.costs.cost_figures import Costs
from watchgate.ui.costs.cost_sums import BRIEF, LOWER_BOUND_MARK, Sum, dollars
from watchgate.ui.costs.limit_words import REPORTED, AgentLimits, Window
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.costs.cost_words import bar, missing_note, safe_name, unreadable_note

CostEmptyKind = Literal["connecting", "no-core", "no-usage"]

USAGE_SOURCES = (
    ("Claude Code", "transcripts; cost", "by itself; watchgate install claude"),
    ("Codex", "transcripts, limits", "found by itself"),
    ("OpenCode", "its database; cost", "found by itself"),
    ("Gemini, Qwen", "transcripts", "found by itself"),
    ("over ACP", "cost, tokens, context", "watchgate acp -- AGENT"),
    ("others", "nothing yet", "their sessions stay ?"),
)
"""Agents, what their usage is taken from, and what makes it known."""


class CostEmpty(Pane):
    """A text in the place of the figures."""

    DEFAULT_CSS = "CostEmpty { height: 1fr; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._kind: CostEmptyKind = "connecting"

    def show(self, kind: CostEmptyKind) -> None:
        """Shows one of the states."""
        if kind != self._kind:
            self._kind = kind
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        if self._kind == "connecting":
            return self._plain("Attaching to the core.", "Nothing is shown before its picture.")
        if self._kind == "no-core":
            return self._plain("No core answers.", "1 shows what that means for agents.")
        gap = [self.line()] * (2 if rows >= 24 else 1)
        lines = [
            *gap,
            self._text("No usage is known yet.", cells, bold=True),
            self._text("What agents report and their transcripts tell is added up here.", cells),
            self._text("Tokens are priced by a table; what has no price is ?, never $0.", cells),
            *gap,
        ]
        for agent, what, setup in USAGE_SOURCES:
            line = self.line().to(2).add(agent, "fg", bold=True).to(19).add(what, "dim")
            lines.append(line.to(42).fit(setup, cells - 43) if cells >= 72 else line)
        return lines

    def _plain(self, title: str, then: str) -> list[StyledLine]:
        return [self.line(), self._text(title, 80, bold=True), self._text(then, 80)]

    def _text(self, text: str, cells: int, *, bold: bool = False) -> StyledLine:
        return self.line().to(2).fit(text, cells - 3, bold=bold)


FILL = 8
FULL = 0.8
"""From so much of a window on, its percentage is bold."""


class CostLimits(Pane):
    """One line per agent; windows that do not fit are left out whole, bars before them."""

    DEFAULT_CSS = "CostLimits { height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self._limits: tuple[AgentLimits, ...] = ()
        self._stale = False
        self._names = 0

    def show(self, costs: Costs, *, stale: bool = False) -> None:
        """Shows what is reported."""
        if (costs.limits, stale) != (self._limits, self._stale):
            self._limits, self._stale = costs.limits, stale
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        shown = self._limits[:rows]
        self._names = max((width(safe_name(each.agent)) for each in shown), default=0)
        return [self._line_of(each, cells) for each in shown]

    def _line_of(self, limits: AgentLimits, cells: int) -> StyledLine:
        short = msgspec.structs.replace(
            limits, reported_words=limits.reported_words.removeprefix(REPORTED)
        )
        fewer = range(len(limits.windows) - 1, 0, -1)
        tried = [
            *((limits, True), (limits, False), (short, False)),
            *((msgspec.structs.replace(short, windows=limits.windows[:n]), False) for n in fewer),
        ]
        lines = (self._whole(each, bars=bars) for each, bars in tried)
        fitting = next((line for line in lines if line.left_cells < cells), None)
        return fitting or self._whole(
            msgspec.structs.replace(tried[-1][0], reported_words=""), bars=False
        )

    def _whole(self, limits: AgentLimits, *, bars: bool) -> StyledLine:
        quiet: Token = "off" if self._stale else "dim"
        line = self.line().to(2).add(safe_name(limits.agent), quiet).to(2 + self._names)
        for each in limits.windows:
            self._window(line.add("   "), each, bars=bars)
        return line.add(f"   {limits.reported_words}", quiet) if limits.reported_words else line

    def _window(self, line: StyledLine, each: Window, *, bars: bool) -> None:
        quiet: Token = "off" if self._stale else "dim"
        ink: Token = "off" if self._stale else "fg"
        line.add(each.name, quiet)
        used = each.used
        if used is None:
            line.add(f" {UNKNOWN}", ink, bold=True)
        else:
            line.add(f" {percent(used)}", ink, bold=used >= FULL)
        if bars and used is not None:
            start = line.add(" ").left_cells
            bar(line, used, FILL, ink)
            line.add("─" * (start + FILL - line.left_cells), "faint")
        if each.words:
            line.add(f" {each.words}", quiet)


AIRY_FROM = 100
WIDE, NARROW = (2, 16, 34, 50), (2, 13, 27, 40)
APART = 3


class CostTotals(Pane):
    """Four figures with their labels; at the right what is in none of them, or what marks mean."""

    DEFAULT_CSS = "CostTotals { height: 2; }"

    def __init__(self) -> None:
        super().__init__()
        self._costs: Costs | None = None
        self._stale = False

    def show(self, costs: Costs, *, stale: bool = False) -> None:
        """Shows these figures."""
        if (costs, stale) != (self._costs, self._stale):
            self._costs, self._stale = costs, stale
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        costs = self._costs
        if costs is None:
            return []
        ink: Token = "off" if self._stale else "fg"
        quiet: Token = "off" if self._stale else "dim"
        figures = (
            ("today", costs.today),
            ("last 7 days", costs.week),
            (costs.month_name, costs.month),
            ("now, per hour", costs.hour),
        )
        places = WIDE if cells >= AIRY_FROM else NARROW
        labels = self.line()
        for place, (label, _) in zip(places, figures, strict=True):
            labels.to(place).add(label, quiet)
        lost = unreadable_note(costs.unreadable, whole=cells >= AIRY_FROM)
        budget = of_today(costs.budget, dollars(costs.today.cost))
        for words, bold in ((lost, False), (budget, True)):
            if words and _fits(labels, words, cells):
                labels.right(f"  {words} " if labels.right_cells else f"{words} ", ink, bold=bold)
        sums = tuple(known for _, known in figures)
        legend = BRIEF if any(known.mark for known in sums) and not labels.right_cells else ()
        if brief := next((words for words in legend if _fits(labels, words, cells)), ""):
            labels.right(f"{brief} ", quiet)
        values = self._values(places, sums)
        self._speed(values, costs, cells)
        words = missing_note(costs)
        if words and values.left_cells + width(words) + APART + 1 <= cells:
            return [labels, values.right(f"{words} ", quiet)]
        values = self._values(places, sums, bound_sign=LOWER_BOUND_MARK)
        self._speed(values, costs, cells)
        return [labels, values]

    def _values(
        self, places: Sequence[int], sums: Sequence[Sum], *, bound_sign: str = ""
    ) -> StyledLine:
        """Returns the figures below their labels, each lower bound with the sign for that."""
        ink: Token = "off" if self._stale else "fg"
        quiet: Token = "off" if self._stale else "dim"
        line = self.line()
        ends = (*places[1:], places[-1] + width("now, per hour") + 1)
        for place, end, known in zip(places, ends, sums, strict=True):
            line.to(place).add(dollars(known.cost), ink, bold=True)
            if known.cost is None:
                continue
            if known.is_lower_bound:
                line.add(bound_sign, ink)
            if known.mark and line.left_cells + len(known.mark) + 1 < end:
                line.add(f" {known.mark}", quiet)
        return line

    def _speed(self, line: StyledLine, costs: Costs, cells: int) -> None:
        """Adds the tokens per minute, where there is room."""
        words = f"   {tokens(costs.tokens_per_min)} tokens/min"
        if costs.tokens_per_min and line.left_cells + len(words) + 1 <= cells:
            line.add(words, "off" if self._stale else "dim")


def _fits(line: StyledLine, words: str, cells: int) -> bool:
    return line.left_cells + line.right_cells + width(words) + APART + 1 <= cells

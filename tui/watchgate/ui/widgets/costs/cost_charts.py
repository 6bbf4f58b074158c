"""The costs as bars: by day, by model, by agent, and one session's by kind of tokens.

A day of which nothing is known has a `?` and no bar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from watchgate.core.base.amounts import UNKNOWN, count, plural, tokens
from watchgate.core.model.usage_records import KindCosts
from watchgate.core.usage.session_usage import SessionUsage, Tokens
from watchgate.ui.base.formats import cut
from watchgate.ui.base.theme import Token
from watchgate.ui.costs.cost_figures import WEEK, WINDOW_WORDS, CostRow, Costs, date_of
from watchgate.ui.costs.cost_sums import (
    LOWER_BOUND_MARK,
    Sum,
    dollars,
    of_parts,
    part_dollars,
    written,
)
from watchgate.ui.costs.sparks import of_turns, spark
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.costs.cost_words import bar, model_name, safe_name, unknown_days

RANKED_COST_END, MARK, RANKED_BAR, RANKED_LONGEST = 30, 31, 36, 14
MIN_AGENTS = 2
"""With fewer agents there is no list of their costs."""


class RankedCost(msgspec.Struct, frozen=True):
    """One line: a name, whether it is a known one, and its cost."""

    name: str
    known: bool
    sum: Sum


class CostRanked(Pane):
    """One line per name with its cost and a bar beside the dearest one's."""

    DEFAULT_CSS = "CostRanked { height: auto; }"

    def __init__(
        self, by: str, entries: Callable[[Costs], Sequence[RankedCost]], *, left: int = 2
    ) -> None:
        super().__init__()
        self._left = left
        self._by, self._entries_of = by, entries
        self._costs: Costs | None = None
        self._entries: Sequence[RankedCost] = ()
        self._stale = False

    def show(self, costs: Costs, *, stale: bool = False) -> None:
        """Shows these figures."""
        if (costs, stale) != (self._costs, self._stale):
            self._costs, self._stale = costs, stale
            self._entries = self._entries_of(costs)
            self.redraw()

    def lines_wanted(self, *, airy: bool) -> int:
        """Returns the lines that all names take; none where there is nothing to compare."""
        return len(self._entries) + (2 if airy else 1) if self._entries else 0

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        costs, entries = self._costs, self._entries
        if costs is None or not entries or rows < 2:
            return []
        quiet: Token = "off" if self._stale else "dim"
        days = WINDOW_WORDS[max(costs.window, WEEK)]
        lines = [self.line().to(self._left).add(f"by {self._by}, {days}", quiet)]
        if rows >= len(entries) + 2:
            lines.append(self.line())
        room = rows - len(lines)
        fit = entries if len(entries) <= room else entries[: room - 1]
        dearest = max((each.sum.cost or 0 for each in entries), default=0)
        lines += [self._entry(each, dearest, quiet) for each in fit]
        if len(fit) < len(entries):
            left = len(entries) - len(fit)
            lines.append(self.line().to(self._left).add(f"{count(left)} more", quiet))
        return lines

    def _entry(self, entry: RankedCost, dearest: int, quiet: Token) -> StyledLine:
        known = entry.sum
        ink: Token = quiet if self._stale or not entry.known else "fg"
        cost = written(known)
        line = self.line().to(self._left)
        shift = self._left - 2
        line.fit(entry.name, RANKED_COST_END - len(cost) - 3, ink)
        line.to(shift + RANKED_COST_END - len(cost)).add(cost, ink, bold=known.cost is not None)
        if known.cost is None:
            return line
        line.to(shift + MARK).add(known.mark + LOWER_BOUND_MARK * known.is_lower_bound, quiet)
        if known.cost:
            share = known.cost / dearest
            bar(
                line.to(shift + RANKED_BAR),
                share,
                RANKED_LONGEST,
                "off" if self._stale else "accent",
            )
        return line


def by_model(costs: Costs) -> Sequence[RankedCost]:
    """Returns the cost of each model."""
    return [
        RankedCost(model_name(row.name, row.agent), bool(row.name), row.sum) for row in costs.models
    ]


def by_agent(costs: Costs) -> Sequence[RankedCost]:
    """Returns the cost of each agent's sessions, where there are several agents."""
    if len(costs.agents) < MIN_AGENTS:
        return ()
    return [RankedCost(safe_name(row.agent), True, row.sum) for row in costs.agents]


COST_END, COUNT_END, BAR, LONGEST = 30, 39, 36, 14
LABEL_CELLS = 20
KIND_LINES = 6
"""Its head, the kinds of tokens, and an empty line."""

TokenKind = tuple[str, int, int | None]
"""Its name, its tokens, and its nano-dollars where they are computed."""


class CostWhere(Pane):
    """One line per kind of tokens, the dearest first; what no table prices has its tokens alone."""

    DEFAULT_CSS = "CostWhere { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._row: CostRow | None = None
        self._used: SessionUsage | None = None
        self._stale = False

    def show(self, row: CostRow | None, used: SessionUsage | None, *, stale: bool = False) -> None:
        """Shows this session."""
        if (row, used, stale) != (self._row, self._used, self._stale):
            self._row, self._used, self._stale = row, used, stale
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        row, used = self._row, self._used
        if row is None or rows < KIND_LINES:
            return []
        ink: Token = "off" if self._stale else "fg"
        quiet: Token = "off" if self._stale else "dim"
        label = "".join(cut(safe_name(row.label), LABEL_CELLS))
        head = self.line().to(2).add(f"where it went, {label}", quiet)
        lines = [head, self.line()] if rows > KIND_LINES else [self.line(), head]
        if used is None or used.tokens is None:
            report = f"{UNKNOWN}  no tokens reported"
            return [*lines, self.line().to(2).fit(report, cells - 3, quiet)]
        whole = max(1, used.tokens.all)
        for word, number, cost in token_kinds(used.tokens, used.kinds):
            line = self.line().to(2).add(word, ink)
            token_count = tokens(number)
            if cost is not None:
                money = dollars(cost)
                line.to(COST_END - len(money)).add(money, ink, bold=True)
                line.to(COUNT_END - len(token_count)).add(token_count, quiet)
            else:
                line.to(COST_END - len(token_count)).add(token_count, ink, bold=True).to(BAR)
                bar(line, number / whole, LONGEST, "off" if self._stale else "accent")
            lines.append(line)
        remarks = [*self._turns(used, cells, quiet), *self._notes(used, quiet)]
        return [*lines, *remarks[: max(0, rows - len(lines))]]

    def _turns(self, used: SessionUsage, cells: int, quiet: Token) -> list[StyledLine]:
        """Returns the newest turns as bars, with what the last one cost."""
        turns = used.turns
        if len(turns) < 2:
            return []
        shown = of_turns(turns, min(LONGEST, cells - BAR - 1))
        last = turns[-1]
        amount = part_dollars(last.cost) if last.cost is not None else tokens(last.tokens)
        line = self.line().to(2).add("newest turn", quiet).to(COST_END - len(amount))
        line.add(amount, quiet)
        if last.cost is not None:
            line.add(f" {of_parts(used, is_lower_bound=last.is_lower_bound)}", quiet)
        return [line.to(BAR).add(spark(shown), "faint")]

    def _notes(self, used: SessionUsage, quiet: Token) -> list[StyledLine]:
        """Returns remarks that qualify these figures."""
        notes = []
        if used.subs:
            cost = sum(sub.cost or 0 for sub in used.subs)
            known = any(sub.cost is not None for sub in used.subs)
            subtotal = f"{dollars(cost)} {of_parts(used)}" if known else UNKNOWN
            notes.append(f"{plural(len(used.subs), 'sub-agent')}: {subtotal}")
        if used.kinds is not None and used.source == "reported":
            notes.append("computed by list prices, beside what is reported")
        if used.partial:
            notes.append("at least: the newest calls are told")
        return [self.line().to(2).add(each, quiet) for each in notes]


def token_kinds(used_tokens: Tokens, money: KindCosts | None) -> list[TokenKind]:
    """Returns the kinds of tokens, those that cost or count the most first."""
    all_kinds: list[TokenKind] = [
        ("cache reads", used_tokens.cache_read, money.cache_read if money else None),
        ("output", used_tokens.output, money.output if money else None),
        ("cache writes", used_tokens.cache_write, money.cache_write if money else None),
        ("input", used_tokens.input, money.input if money else None),
    ]
    return sorted(all_kinds, key=lambda kind: (-(kind[2] or 0), -kind[1]))


EIGHTHS = " ▁▂▃▄▅▆▇█"
SCALE_END = 8
FIRST_DAY = 10
PITCH, BAR_CELLS = 4, 3
USUAL_BARS, MAX_BARS, FEWEST_BARS = 8, 14, 2
TALL_FROM = 26
AIRY_FROM = 13
NANO_CENT = 10_000_000


def days_in(cells: int) -> int:
    """Returns the number of days that fit side by side."""
    return max(1, min(30, (cells - FIRST_DAY - 1) // PITCH))


class CostDays(Pane):
    """Bars over an axis, today in accent; the highest and its half are named at the left."""

    DEFAULT_CSS = "CostDays { height: 1fr; width: 1fr; }"

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
        quiet: Token = "off" if self._stale else "dim"
        words = unknown_days(costs, cells - FIRST_DAY - 1)
        airy = rows >= AIRY_FROM
        above = [self.line().to(SCALE_END - 6).add("by day", quiet)]
        if airy:
            above.append(self.line())
        words_rows = 0 if not words else 2 if airy else 1
        bars = min(USUAL_BARS if rows < TALL_FROM else MAX_BARS, rows - len(above) - 2 - words_rows)
        if bars < FEWEST_BARS and words:
            words, bars = "", bars + words_rows
        if bars < FEWEST_BARS:
            return []
        lines = [*above, *self._bars(costs, bars), *self._axis(costs)]
        if words:
            if airy:
                lines.append(self.line())
            lines.append(
                self.line().to(FIRST_DAY if airy else 2).fit(words, cells - FIRST_DAY - 1, quiet)
            )
        return lines

    def _bars(self, costs: Costs, rows: int) -> list[StyledLine]:
        quiet: Token = "off" if self._stale else "dim"
        top = _rounded(max((day.cost or 0 for day in costs.days), default=0))
        lines = []
        for row in range(rows):
            line = self.line()
            if row in (0, rows // 2):
                named = dollars(top if row == 0 else top // 2)
                line.to(SCALE_END - len(named)).add(named, quiet)
            for number, day in enumerate(costs.days):
                line.to(FIRST_DAY + number * PITCH)
                today = number == len(costs.days) - 1
                if day.cost is None:
                    line.add(f"{UNKNOWN}  " if row == rows - 1 else "   ", quiet)
                    continue
                eighths = min(8, max(0, _height(day.cost, top, rows) - 8 * (rows - 1 - row)))
                ink: Token = "accent" if today and not self._stale else "faint"
                line.add(EIGHTHS[eighths] * BAR_CELLS, ink)
            lines.append(line)
        return lines

    def _axis(self, costs: Costs) -> list[StyledLine]:
        cells = len(costs.days) * PITCH - 1
        quiet: Token = "off" if self._stale else "dim"
        ink: Token = "off" if self._stale else "fg"
        line = self.line()
        for number, day in enumerate(costs.days):
            today = number == len(costs.days) - 1
            line.to(FIRST_DAY + number * PITCH)
            line.add(f"{date_of(day.day).day:02d}", ink if today else quiet, bold=today)
        return [self.line().to(FIRST_DAY).add("─" * cells, "faint"), line]


def _height(cost: int, top: int, rows: int) -> int:
    """Returns the height of a bar in eighths of a cell; what cost anything has one."""
    return max(1, round(8 * rows * cost / top)) if cost and top else 0


def _rounded(cost: int) -> int:
    """Returns the top of the scale: the dearest day, up to the next even cent."""
    return max(2 * NANO_CENT, -(-cost // (2 * NANO_CENT)) * 2 * NANO_CENT)

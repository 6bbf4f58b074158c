"""The costs of one session: facts, kinds of tokens, days and models, turns, sub-agents."""

from __future__ import annotations

from datetime import tzinfo

from watchgate.core.amounts import UNKNOWN, count, plural, tokens
from watchgate.core.usage.session import SessionUsage, SubUsage
from watchgate.ui.costs.figures import date_of
from watchgate.ui.costs.marks import mark, of_parts
from watchgate.ui.costs.sparks import of_turns, spark
from watchgate.ui.costs.sums import dollars, part_dollars, sum_of, written
from watchgate.ui.formats import clock
from watchgate.ui.theming.palettes import Palette, Token
from watchgate.ui.widgets.costs.where import kinds
from watchgate.ui.widgets.costs.words import bar, model_name, named
from watchgate.ui.widgets.pane import Line

COUNT_END, MONEY_END, BAR, LONGEST = 26, 36, 38, 24
DAY, MODEL, COST_END, IN_END, OUT_END = 2, 15, 46, 58, 67
TURN_TOKENS, TURN_COST = 22, 32
TURNS_SHOWN = 12
SPARKS, SPARK_LEFT = 30, 18


class Parts:
    """Lines of one width about one session."""

    def __init__(
        self, inks: Palette, used: SessionUsage, cells: int, zone: tzinfo | None, stale: bool
    ) -> None:
        """Lays out the lists.

        Args:
            inks: The palette.
            used: The session's usage.
            cells: Width of each line.
            zone: Time zone of the turns' clock times, None for the local one.
            stale: Whether the core is lost, so that all is grey.
        """
        self._inks, self._used, self._cells = inks, used, cells
        self._zone = zone
        self._ink: Token = "off" if stale else "fg"
        self._quiet: Token = "off" if stale else "dim"
        self._accent: Token = "off" if stale else "accent"

    def kinds(self) -> list[Line]:
        """Lists the tokens of each kind, and what they cost where that is computed."""
        used = self._used
        lines = [self._line().add("where it went, all days", self._quiet)]
        if used.tokens is None:
            return [*lines, self._line().add("no tokens are told", self._quiet)]
        money = used.kinds
        spent = max(1, sum((money.input, money.output, money.cache_read, money.cache_write))
                    if money else used.tokens.all)  # fmt: skip
        for word, number, cost in kinds(used.tokens, money):
            token_count = tokens(number)
            line = self._line().add(word, self._ink).to(COUNT_END - len(token_count))
            line.add(token_count, self._quiet if money else self._ink, bold=not money)
            if cost is not None:
                line.to(MONEY_END - len(dollars(cost))).add(dollars(cost), self._ink, bold=True)
            if self._cells > BAR + LONGEST:
                share = (number if cost is None else cost) / spent
                bar(line.to(BAR), share, LONGEST, self._accent)
            lines.append(line)
        lines += self._of_kinds()
        return [*lines, self._line()]

    def _of_kinds(self) -> list[Line]:
        used, notes = self._used, []
        if used.reasoning:
            notes.append(f"{tokens(used.reasoning)} of the output is reasoning")
        if used.kinds is not None and used.kinds.web_search:
            notes.append(f"and {dollars(used.kinds.web_search)} for searches of the web")
        if used.kinds is not None and used.source == "reported":
            notes.append("computed by list prices, beside what is reported")
        if used.partial:
            notes.append("at least: its newest call is told each time, and calls between are not")
        return [self._line().fit(each, self._cells - 3, self._quiet) for each in notes]

    def days(self) -> list[Line]:
        """Lists its days and models, the newest first."""
        head = self._line().add("day", self._quiet).to(MODEL).add("model", self._quiet)
        wide = self._cells > OUT_END
        names = (("cost", COST_END), ("in", IN_END), ("out", OUT_END))
        for word, end in names if wide else names[:1]:
            head.to(end - len(word)).add(word, self._quiet)
        lines = [head]
        for part in reversed(self._used.spent):
            line = self._line().add(f"{date_of(part.day):%a %d %b}", self._quiet)
            line.to(MODEL).fit(model_name(part.model, part.agent), COST_END - MODEL - 11, self._ink)
            cost = written(sum_of((part,)))
            known = part.cost is not None
            line.to(COST_END - len(cost)).add(cost, self._ink if known else self._quiet, bold=known)
            if part.cost is not None:
                line.add(f" {mark(part.source, is_lower_bound=part.is_lower_bound)}", self._quiet)
            if wide:
                read = tokens(part.tokens.read if part.tokens else None)
                output = tokens(part.tokens.output if part.tokens else None)
                line.to(IN_END - len(read)).add(read, self._ink)
                line.to(OUT_END - len(output)).add(output, self._ink)
            lines.append(line)
        return [*lines, self._line()]

    def turns_and_subs(self) -> list[Line]:
        """Lists its newest turns with their cost, and its sub-agents with their subtotal."""
        return [*self._turns(), *self._subs()]

    def _turns(self) -> list[Line]:
        turns = self._used.turns
        if not turns:
            return []
        words = "turns" if len(turns) > TURNS_SHOWN else plural(len(turns), "turn")
        head = self._line().add(f"newest {words}", self._quiet)
        if len(turns) > 1 and self._cells > SPARK_LEFT:
            room = min(SPARKS, self._cells - SPARK_LEFT)
            head.to(SPARK_LEFT - 1).add(spark(of_turns(turns, room)), "faint")
        lines = [head]
        for turn in reversed(turns[-TURNS_SHOWN:]):
            line = self._line().add(clock(turn.at, self._zone) if turn.at else UNKNOWN, self._quiet)
            token_count, cost = tokens(turn.tokens), part_dollars(turn.cost)
            line.to(TURN_TOKENS - len(token_count)).add(token_count, self._ink)
            line.to(TURN_COST - len(cost)).add(cost, self._ink, bold=True)
            if turn.cost is not None:
                line.add(
                    f" {of_parts(self._used, is_lower_bound=turn.is_lower_bound)}", self._quiet
                )
            words = f"   {plural(turn.calls, 'call')}"
            if line.left_cells + len(words) < self._cells:
                line.to(TURN_COST + 4).add(words[1:], self._quiet)
            lines.append(line)
        return [*lines, self._line()]

    def _subs(self) -> list[Line]:
        subs = self._used.subs
        if not subs:
            return []
        lines = [self._line().add("sub-agents, part of these figures", self._quiet)]
        dearest = sorted(subs, key=lambda each: (-(each.cost or 0), each.sub))
        lines += [self._sub(sub, named(sub.sub)) for sub in dearest]
        if len(subs) > 1:
            costs = [sub.cost for sub in subs if sub.cost is not None]
            whole = SubUsage(sub="", cost=sum(costs) if costs else None,
                             calls=sum(sub.calls for sub in subs))  # fmt: skip
            lines.append(self._sub(whole, f"all {count(len(subs))}", subs))
        return [*lines, self._line()]

    def _sub(self, sub: SubUsage, name: str, of: tuple[SubUsage, ...] = ()) -> Line:
        token_count = tokens(sum(each.tokens.all for each in of) if of else sub.tokens.all)
        cost = dollars(sub.cost)
        line = self._line().fit(
            name, TURN_TOKENS - len(token_count) - 3, self._quiet if of else self._ink
        )
        line.to(TURN_TOKENS - len(token_count)).add(token_count, self._ink)
        line.to(TURN_COST - len(cost)).add(cost, self._ink, bold=True)
        if sub.cost is not None:
            line.add(f" {of_parts(self._used)}", self._quiet)
        words = f"   {plural(sub.calls, 'call')}"
        if line.left_cells + len(words) < self._cells:
            line.to(TURN_COST + 4).add(words[1:], self._quiet)
        return line

    def _line(self) -> Line:
        return Line(self._inks).to(2)

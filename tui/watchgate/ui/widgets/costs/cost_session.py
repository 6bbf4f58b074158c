"""The costs of one session: facts, kinds of tokens, days and models, turns, sub-agents."""

from __future__ import annotations

from datetime import tzinfo

import msgspec

from watchgate.core.base.amounts import UNKNOWN, count, plural, tokens
from watchgate.core.base.text import safe_text
from watchgate.core.usage.session_usage import SessionUsage, SubUsage
from watchgate.ui.base.formats import clock, percent
from watchgate.ui.base.theme import Palette, Token
from watchgate.ui.costs.cost_figures import CostRow, date_of
from watchgate.ui.costs.cost_sums import dollars, mark, of_parts, part_dollars, sum_of, written
from watchgate.ui.costs.sparks import of_turns, spark
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.source.agent_titles import title
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.costs.cost_charts import token_kinds
from watchgate.ui.widgets.costs.cost_words import bar, model_name, safe_name

FILES = "its transcripts"
CWD_CHARS = 400


class SessionFact(msgspec.Struct, frozen=True):
    """A label, the value to read first, and the rest in words."""

    label: str
    value: str = ""
    words: str = ""

    def ink(self, quiet: Token, plain: Token) -> Token:
        """Returns the ink of the words: quiet where they only explain the value."""
        return quiet if self.value else plain


def facts(
    row: CostRow, used: SessionUsage | None, prices: str, zone: tzinfo | None
) -> list[SessionFact]:
    """Returns all that is known of the session as a whole, in reading order."""
    who = title(row.key[0])
    if used is None:
        report = f"{who} reports no usage: nothing is known of it"
        return [SessionFact("cost", UNKNOWN), SessionFact("", "", report)]
    models = ", ".join(model_name(name, row.key[0]) for name in reversed(used.models))
    all_facts = [
        *_costs(used, who, prices),
        SessionFact("model", "", models or UNKNOWN),
        SessionFact("context", "", _context(row, used)),
        SessionFact("last told", "", clock(used.at, zone) if used.at else UNKNOWN),
        SessionFact("told by", "", _sources(used) or UNKNOWN),
    ]
    if used.cwd:
        all_facts.append(SessionFact("cwd", "", safe_text(used.cwd[:CWD_CHARS])))
    if used.unreadable:
        words = f"{plural(used.unreadable, 'line')} of its transcripts: in no figure here"
        all_facts.append(SessionFact("unreadable", "", words))
    return all_facts


def _costs(used: SessionUsage, who: str, prices: str) -> list[SessionFact]:
    """Returns the shown cost with its source, and the other cost; they are never added."""
    by = {
        "reported": f"reported by {who}",
        "computed": f"computed from tokens, {_by(prices)}",
        "unknown": _unknown(used, who),
    }[used.source]
    bound = "at least: " if used.is_lower_bound and used.cost is not None else ""
    all_facts = [SessionFact("cost", dollars(used.cost), f"{bound}{by}")]
    if used.unpriced and used.cost is not None:
        all_facts.append(SessionFact("", "", f"without {_models(used)}: no table has a price"))
    if used.source == "reported" and used.computed_cost is not None:
        other = f"computed beside it, not added: {_by(prices)}"
        all_facts.append(SessionFact("", dollars(used.computed_cost), other))
    if used.source == "computed" and used.reported_cost is not None:
        other = f"reported by {who} beside it, not added: it did not tell of all"
        all_facts.append(SessionFact("", dollars(used.reported_cost), other))
    return all_facts


def _by(prices: str) -> str:
    return safe_text(prices[:80]) or "by list prices"


def _unknown(used: SessionUsage, who: str) -> str:
    if used.unpriced:
        return f"no table has a price for {_models(used)}"
    return f"{who} reports tokens and no cost" if used.tokens else f"{who} reports no cost"


def _models(used: SessionUsage) -> str:
    return ", ".join(model_name(name, used.agent) for name in used.unpriced[:3])


def _context(row: CostRow, used: SessionUsage) -> str:
    if used.context_used is None:
        return UNKNOWN
    words = tokens(used.context_used)
    if used.context_size:
        words += f" of {tokens(used.context_size)}, {percent(row.context)}"
    return words


def _sources(used: SessionUsage) -> str:
    """Names the sources: streams and status lines by their names, and the session's files."""
    streams = dict.fromkeys(safe_name(meter.source) for meter in used.reported.meters)
    files = [FILES] if used.counted is not None else []
    return ", ".join([*streams, *files])


COUNT_END, MONEY_END, BAR, LONGEST = 26, 36, 38, 24
DAY, MODEL, COST_END, IN_END, OUT_END = 2, 15, 46, 58, 67
TURN_TOKENS, TURN_COST = 22, 32
TURNS_SHOWN = 12
SPARKS, SPARK_LEFT = 30, 18


class SessionParts:
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

    def kinds(self) -> list[StyledLine]:
        """Lists the tokens of each kind, and what they cost where that is computed."""
        used = self._used
        lines = [self._line().add("where it went, all days", self._quiet)]
        if used.tokens is None:
            return [*lines, self._line().add("no tokens are told", self._quiet)]
        money = used.kinds
        spent = max(1, sum((money.input, money.output, money.cache_read, money.cache_write))
                    if money else used.tokens.all)  # fmt: skip
        for word, number, cost in token_kinds(used.tokens, money):
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

    def _of_kinds(self) -> list[StyledLine]:
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

    def days(self) -> list[StyledLine]:
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

    def turns_and_subs(self) -> list[StyledLine]:
        """Lists its newest turns with their cost, and its sub-agents with their subtotal."""
        return [*self._turns(), *self._subs()]

    def _turns(self) -> list[StyledLine]:
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

    def _subs(self) -> list[StyledLine]:
        subs = self._used.subs
        if not subs:
            return []
        lines = [self._line().add("sub-agents, part of these figures", self._quiet)]
        dearest = sorted(subs, key=lambda each: (-(each.cost or 0), each.sub))
        lines += [self._sub(sub, safe_name(sub.sub)) for sub in dearest]
        if len(subs) > 1:
            costs = [sub.cost for sub in subs if sub.cost is not None]
            whole = SubUsage(sub="", cost=sum(costs) if costs else None,
                             calls=sum(sub.calls for sub in subs))  # fmt: skip
            lines.append(self._sub(whole, f"all {count(len(subs))}", subs))
        return [*lines, self._line()]

    def _sub(self, sub: SubUsage, name: str, of: tuple[SubUsage, ...] = ()) -> StyledLine:
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

    def _line(self) -> StyledLine:
        return StyledLine(self._inks).to(2)


VALUE = 15
AIRY_FROM = 24
TWO_COLUMNS_FROM = 116
"""From so many columns turns and sub-agents stand beside the kinds and days."""

RIGHT = 72


class CostSession(Pane):
    """The page of one session; it scrolls when it has more lines than there are rows."""

    DEFAULT_CSS = "CostSession { height: 1fr; width: 1fr; }"

    def __init__(self, *, zone: tzinfo | None = None) -> None:
        super().__init__()
        self._zone = zone
        self._row: CostRow | None = None
        self._used: SessionUsage | None = None
        self._prices = ""
        self._stale = False
        self._top = 0

    def show(
        self,
        row: CostRow | None,
        used: SessionUsage | None,
        *,
        prices: str = "",
        stale: bool = False,
    ) -> None:
        """Shows this session with its recorded usage; `prices` names the price table."""
        if (row, used, prices, stale) == (self._row, self._used, self._prices, self._stale):
            return
        if row is None or self._row is None or row.key != self._row.key:
            self._top = 0
        self._row, self._used, self._prices, self._stale = row, used, prices, stale
        self.redraw()

    def move(self, by: int) -> None:
        """Scrolls by so many lines."""
        deepest = max(0, len(self._lines(self.size.width)) - self.size.height)
        self._top = min(max(0, self._top + by), deepest)
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        lines = self._lines(cells)
        self._top = min(self._top, max(0, len(lines) - rows))
        return lines[self._top :]

    def _lines(self, cells: int) -> list[StyledLine]:
        row, used = self._row, self._used
        quiet: Token = "off" if self._stale else "dim"
        ink: Token = "off" if self._stale else "fg"
        if row is None:
            return [self.line(), self.line().to(2).add("This session is gone.", quiet)]
        head = self.line().to(2).fit(safe_name(row.label), max(8, cells - 30), ink, bold=True)
        head.add("   ").add(safe_name(row.key[0]), quiet)
        lines = [head.right(f"{key_for('back')} ", "accent", bold=True).right("back ", quiet)]
        if self.size.height >= AIRY_FROM:
            lines.append(self.line())
        for fact in facts(row, used, self._prices, self._zone):
            line = self.line().to(2).add(fact.label, quiet).to(VALUE)
            line.add(fact.value, ink, bold=True) if fact.value else line
            if fact.words:
                line.add("   " if fact.value else "")
                line.fit(fact.words, cells - line.left_cells - 1, fact.ink(quiet, ink))
            lines.append(line)
        if used is None:
            return lines
        if cells < TWO_COLUMNS_FROM:
            parts = SessionParts(self.inks, used, cells, self._zone, self._stale)
            return [*lines, self.line(), *parts.kinds(), *parts.turns_and_subs(), *parts.days()]
        left = SessionParts(self.inks, used, RIGHT - 3, self._zone, self._stale)
        right = SessionParts(self.inks, used, cells - RIGHT, self._zone, self._stale)
        columns = _side_by_side([*left.kinds(), *left.days()], right.turns_and_subs())
        return [*lines, self.line(), *columns]


def _side_by_side(left: list[StyledLine], right: list[StyledLine]) -> list[StyledLine]:
    """Joins two columns of lines."""
    lines = []
    for number in range(max(len(left), len(right))):
        line = left[number] if number < len(left) else StyledLine(right[0].colors)
        if number < len(right):
            line.to(RIGHT).join(right[number])
        lines.append(line)
    return lines

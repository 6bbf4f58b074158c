"""The lines of the prompt that allows more: the reaches, what is added, what it would have let."""

from __future__ import annotations

import msgspec

from watchgate.core.amounts import count, plural
from watchgate.core.grants.rule import GrantRule
from watchgate.core.policy.assessment import NO_RULE
from watchgate.core.text import safe_text
from watchgate.core.views import PendingView
from watchgate.link.protocol import Scope
from watchgate.ui.covered import covered
from watchgate.ui.deciding.consequences import title
from watchgate.ui.deciding.decisions import SCOPES
from watchgate.ui.formats import ago, cut_front, home, short_id, width
from watchgate.ui.theming.palettes import Palette, Token
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompts.edit_line import EditLine
from watchgate.ui.widgets.request.command_text import plain

COLUMN = 9
PAST_SHOWN = 5
LASTS = {
    "turn": "until its turn ends",
    "session": "until the session ends",
    "15m": "for 15 min",
}


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """A call of the past (`at` UTC µs) that the rules would have let through."""

    at: int
    summary: str
    session: str


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of the verb `propose`: the rules of an always, where and what they answer.

    `answers` are the ids of the policy's rules that may speak, besides what no rule knows; `past`
    are the newest of the `past_count` calls that would have been let through.
    """

    rules: tuple[GrantRule, ...]
    folder: str = ""
    answers: tuple[str, ...] = ()
    past: tuple[Past, ...] = ()
    past_count: int = 0


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown: the chosen reach, what it adds, and the rule under the cursor or the hands."""

    view: PendingView
    chosen: Scope
    proposal: Proposal | None
    why_none: str
    at: int
    line: EditLine | None
    home: str
    now_us: int


def reach_lines(reach: Reach, cells: int, colors: Palette, ground: Token) -> list[Line]:
    """All of it at a width."""
    head = _head(reach, Line(colors, ground))
    if reach.chosen != "always":
        return [head, *_exactly(reach, cells, colors, ground)]
    found = reach.proposal
    if found is None:
        return [head, _label("adds", colors, ground).fit(reach.why_none, cells - COLUMN - 1)]
    rules = [_rule(reach, at, cells, colors, ground) for at in range(len(found.rules))]
    return [head, *rules, *_where(reach, found, cells, colors, ground)]


def _head(reach: Reach, line: Line) -> Line:
    line.add(f"  allow more {short_id(reach.view.id)}  ", "dim")
    for number, scope in enumerate((each for each in SCOPES if each != "once"), 1):
        text = f"{number} {SCOPES[scope]}"
        if scope not in reach.view.data.scopes:
            line.add(f" ({text}) ", "off")
        elif scope == reach.chosen:
            line.add(f" {text} ", "bg", on="accent", bold=True)
        else:
            line.add(f" {number}", "accent", bold=True).add(f" {SCOPES[scope]} ")
    return line


def _exactly(reach: Reach, cells: int, colors: Palette, ground: Token) -> list[Line]:
    data = reach.view.data
    adds = _label("adds", colors, ground).add("exactly this call: ", "dim")
    adds.fit(covered(data.summary), cells - adds.left_cells - 1, bold=True)
    folder = cut_front(home(safe_text(data.cwd), reach.home), 40)
    label = safe_text(reach.view.label[:40])
    where = f"in {folder}, session {label}, {LASTS[reach.chosen]}"
    holds = _label("holds", colors, ground).fit(where, cells - COLUMN - 1)
    return [adds, holds]


def _rule(reach: Reach, at: int, cells: int, colors: Palette, ground: Token) -> Line:
    found = reach.proposal
    rules = found.rules if found else ()
    line = _label("adds" if at == 0 else "", colors, ground)
    if len(rules) > 1:
        line.add("> " if at == reach.at else "  ", "accent", bold=True)
    if reach.line is not None and at == reach.at:
        reach.line.onto(line, max(8, cells - line.left_cells - 2))
        return line
    rule = rules[at]
    more = "any further arguments" if rule.more else "no other arguments"
    if cells - line.left_cells - width(more) > 30:
        line.right(f"{more} ", "dim")
    room = cells - line.left_cells - line.right_cells - 2
    return line.fit(covered(rule.text), room, bold=True)


def _where(reach: Reach, found: Proposal, cells: int, colors: Palette, ground: Token) -> list[Line]:
    folder = home(safe_text(found.folder), reach.home)
    where = f"in {folder}" if folder else "in the session's folder"
    whose = f"every {title(reach.view.agent)} session there"
    asking = [rule for rule in found.answers if rule != NO_RULE]
    beside = f" or asked for by {', '.join(asking)}" if asking else ""
    words = (
        f"{where}, for {whose}, until revoked or unused for 30 days; only for what no rule "
        f"knows{beside}"
    )
    rows = plain(words, max(8, cells - COLUMN - 1))
    lines = []
    for number, row in enumerate(rows):
        line = _label("holds" if number == 0 else "", colors, ground)
        for piece in row:
            piece.onto(line)
        lines.append(line)
    past = _label("past", colors, ground)
    if not found.past_count:
        return [*lines, past.add("no call on record would have matched")]
    past.add(
        f"{count(found.past_count)} {plural(found.past_count, 'call').split(' ', 1)[1]} on record"
    )
    lines.append(past.add(" would have matched"))
    for call in found.past[:PAST_SHOWN]:
        line = Line(colors, ground).to(COLUMN)
        line.add(f"{ago((reach.now_us - call.at) / 1_000_000)} ago".rjust(10), "dim").add("  ")
        line.fit(covered(call.summary), cells - line.left_cells - 1)
        lines.append(line)
    return lines


def _label(word: str, colors: Palette, ground: Token) -> Line:
    return Line(colors, ground).add(f"  {word}", "dim").to(COLUMN)

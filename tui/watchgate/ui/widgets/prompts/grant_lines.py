"""The lines of the prompt that allows more: the reaches, the rule, and its past matches."""

from __future__ import annotations

import msgspec

from watchgate.core.base.amounts import count, plural
from watchgate.core.base.text import safe_text
from watchgate.core.gate.grant_rules import why_no_grant
from watchgate.core.model.assessment import NO_RULE
from watchgate.core.model.standing_grant import WIDTHS, GrantRule, Width
from watchgate.core.model.views import PendingView
from watchgate.link.protocol import Scope
from watchgate.ui.approval.decision_requests import SCOPES
from watchgate.ui.base.formats import ago, covered, cut_front, home, short_id, width
from watchgate.ui.base.theme import Palette, Token
from watchgate.ui.source.agent_titles import title
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_text import plain
from watchgate.ui.widgets.prompts.text_editing import EditLine

COLUMN = 9
PAST_SHOWN = 5
LASTS = {
    "turn": "until its turn ends",
    "session": "until the session ends",
    "15m": "for 15 min",
}


WIDTH_WORDS: dict[Width, str] = {
    "exact": "exactly this",
    "program": "its program",
    "folder": "its folder",
}


class MatchedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded call (`at` UTC µs) that would have been let through."""

    at: int
    summary: str
    session: str


class PastMatches(msgspec.Struct, frozen=True, kw_only=True):
    """The newest of the `past_count` calls that a width would have let through."""

    past: tuple[MatchedCall, ...] = ()
    past_count: int = 0


class GrantProposal(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of the verb `propose`: the rules of a program, the folder, and past matches.

    `answers` are the ids of the policy's rules that may speak, besides what no rule knows; `past`
    are the newest of the `past_count` calls that would have been let through; `widths` has those of
    each width.
    """

    rules: tuple[GrantRule, ...]
    folder: str = ""
    answers: tuple[str, ...] = ()
    past: tuple[MatchedCall, ...] = ()
    past_count: int = 0
    widths: dict[Width, PastMatches] = {}

    def counted(self, width: Width) -> PastMatches:
        """Returns the past matches of one width."""
        own = PastMatches(past=self.past, past_count=self.past_count)
        return own if width == "program" else self.widths.get(width, PastMatches())


class GrantReach(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs of the lines: the chosen reach, the proposal, and the rule at the cursor."""

    view: PendingView
    chosen: Scope
    width: Width
    proposal: GrantProposal | None
    why_none: str
    at: int
    line: EditLine | None
    home: str
    now_us: int


def reach_lines(reach: GrantReach, cells: int, colors: Palette, ground: Token) -> list[StyledLine]:
    """Returns all lines at a width."""
    head = [
        _head(reach, StyledLine(colors, ground)),
        _widths(reach, _label("much", colors, ground)),
    ]
    proposal = reach.proposal
    if reach.width == "exact" and (reach.chosen != "always" or proposal is not None):
        adds = _exactly(reach, cells, colors, ground)
    elif proposal is None:
        return [*head, _label("adds", colors, ground).fit(reach.why_none, cells - COLUMN - 1)]
    elif reach.width == "folder":
        adds = [_label("adds", colors, ground).add("any command that stays in the folder")]
    else:
        adds = [_rule(reach, at, cells, colors, ground) for at in range(len(proposal.rules))]
    return [
        *head,
        *adds,
        *_where(reach, cells, colors, ground),
        *_past(reach, cells, colors, ground),
    ]


def _head(reach: GrantReach, line: StyledLine) -> StyledLine:
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


def _widths(reach: GrantReach, line: StyledLine) -> StyledLine:
    """Draws the widths to choose from, each with its number of past matches."""
    data = reach.view.data
    for number, each in enumerate(WIDTHS, len(SCOPES)):
        wide = each != "exact" or reach.chosen == "always"
        text = WIDTH_WORDS[each]
        if reach.proposal is not None and each in reach.proposal.widths:
            text += f", {count(reach.proposal.counted(each).past_count)} x"
        if wide and ("always" not in data.scopes or why_no_grant(data, each)):
            line.add(f" ({number} {WIDTH_WORDS[each]}) ", "off")
        elif each == reach.width:
            line.add(f" {number} {text} ", "bg", on="accent", bold=True)
        else:
            line.add(f" {number}", "accent", bold=True).add(f" {text} ")
    return line


def _exactly(reach: GrantReach, cells: int, colors: Palette, ground: Token) -> list[StyledLine]:
    data = reach.view.data
    adds = _label("adds", colors, ground).add("exactly this call: ", "dim")
    adds.fit(covered(data.summary), cells - adds.left_cells - 1, bold=True)
    return [adds]


def _rule(reach: GrantReach, at: int, cells: int, colors: Palette, ground: Token) -> StyledLine:
    """Draws one rule of the proposal.

    Args:
        reach: The inputs of the lines.
        at: Index of the rule.
        cells: Width to draw at.
        colors: The palette.
        ground: Ground of the line.
    """
    proposal = reach.proposal
    rules = proposal.rules if proposal else ()
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


def _where(reach: GrantReach, cells: int, colors: Palette, ground: Token) -> list[StyledLine]:
    folder = cut_front(home(safe_text(reach.view.data.cwd), reach.home), 40)
    if reach.chosen == "always":
        words = (
            f"in {folder}, for every {title(reach.view.agent)} session there, until revoked or "
            "unused for 30 days"
        )
    else:
        words = f"in {folder}, session {safe_text(reach.view.label[:40])}, {LASTS[reach.chosen]}"
    if reach.width == "exact" and reach.chosen != "always":
        return [_label("holds", colors, ground).fit(words, cells - COLUMN - 1)]
    if reach.proposal is not None:
        words += f"; only for {_answered(reach.proposal.answers)}"
    lines = []
    for number, row in enumerate(plain(words, max(8, cells - COLUMN - 1))):
        line = _label("holds" if number == 0 else "", colors, ground)
        for piece in row:
            piece.onto(line)
        lines.append(line)
    return lines


def _answered(answers: tuple[str, ...]) -> str:
    """Names the findings of the policy that the grant may answer."""
    rules = ", ".join(safe_text(rule) for rule in answers if rule != NO_RULE)
    unknown = ["what no rule knows"] if NO_RULE in answers else []
    asked = [f"asked for by {rules}"] if rules else []
    return " or ".join((*unknown, *asked, "ordinary work"))


def _past(reach: GrantReach, cells: int, colors: Palette, ground: Token) -> list[StyledLine]:
    if reach.proposal is None:
        return []
    matches = reach.proposal.counted(reach.width)
    line = _label("past", colors, ground)
    if not matches.past_count:
        return [line.add("no call on record would have matched")]
    calls = plural(matches.past_count, "call").split(" ", 1)[1]
    lines = [line.add(f"{count(matches.past_count)} {calls} on record would have matched")]
    for call in matches.past[:PAST_SHOWN]:
        line = StyledLine(colors, ground).to(COLUMN)
        line.add(f"{ago((reach.now_us - call.at) / 1_000_000)} ago".rjust(10), "dim").add("  ")
        line.fit(covered(call.summary), cells - line.left_cells - 1)
        lines.append(line)
    return lines


def _label(word: str, colors: Palette, ground: Token) -> StyledLine:
    return StyledLine(colors, ground).add(f"  {word}", "dim").to(COLUMN)

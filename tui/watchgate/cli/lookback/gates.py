"""The calls that a gate would have held and denied, and what it all cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from watchgate.cli.held_rates import hours_words
from watchgate.cli.lookback.picture import Line, Span, cut
from watchgate.cli.lookback.words import LABEL, Page
from watchgate.core.amounts import money, plural, tokens
from watchgate.core.lookback.proposals import MAX_PROPOSALS
from watchgate.core.text import safe_text
from watchgate.core.usage.meter import NANO

if TYPE_CHECKING:
    from watchgate.core.lookback.proposals import Proposal
    from watchgate.core.lookback.report import Tally


_ROOMY_CELLS = 80


def rates(page: Page) -> list[Line]:
    """Return how much each profile holds an hour, and what would take most of it away."""
    if page.tight and page.cells < _ROOMY_CELLS:
        return []
    rates = page.report.rates
    held = ((rates.guard, "guard"), (rates.guard_alone, "without you"), (rates.strict, "strict"))
    each = [f"{rates.an_hour(count):.1f} {name}" for count, name in held]
    label = Span(" an hour".ljust(LABEL), "accent", bold=True)
    lines: list[Line] = [(label, Span(f"would have held {', '.join(each)}"))]
    if not page.tight:
        lines.append((Span(" " * LABEL), Span(f"in {hours_words(rates)}", "dim")))
    answers = () if page.private or page.tight else page.report.proposals[:MAX_PROPOSALS]
    return [*lines, *map(_answer, answers)]


def _answer(proposal: Proposal) -> Line:
    """One rule or grant with what it would have let through."""
    place = f" in {safe_text(proposal.folder)}" if proposal.folder else ""
    profile = "" if proposal.profile == "guard" else " (strict)"
    through = f"{place} would let {plural(proposal.calls, 'call')} through{profile}"
    head = Span(safe_text(proposal.text), bold=True)
    return (Span(" " * LABEL), Span(f"a {proposal.kind} for "), head, Span(through, "dim"))


def gates(page: Page) -> list[Line]:
    """Draw what each profile would have held and denied."""
    lines: list[Line] = [] if page.tight else [(Span(" With watchgate", bold=True),)]
    for profile, tally in (("guard", page.report.guard), ("strict", page.report.strict)):
        label = Span(f" {profile}".ljust(LABEL), "accent", bold=True)
        lines.append((label, *_held(tally)))
        why = "" if page.tight else _why(profile, tally)
        more = filter(None, (why, _repeats(tally)))
        lines += [(Span(" " * LABEL), Span(line, "dim")) for line in more]
    return lines


def _held(tally: Tally) -> Line:
    if not tally.held and not tally.denied:
        return (Span("would have stopped nothing"),)
    denied = (Span(" and denied "), Span(f"{tally.denied:,}", bold=True)) if tally.denied else ()
    return (
        Span("would have held "),
        Span(f"{tally.held:,}", bold=True),
        Span(" until you answer"),
        *denied,
    )


def _why(profile: str, tally: Tally) -> str:
    """Explain why guard holds more than what is grave: some sessions ask nobody else."""
    rest = tally.held - tally.grave
    if profile != "guard" or not rest:
        return ""
    return f"{rest:,} of them for no rule knows them, and nobody else would be asked"


def _repeats(tally: Tally) -> str:
    if not tally.again:
        return ""
    repeats = f"{tally.again:,} the very same again"
    grants = f"; standing grants would answer {tally.granted:,}" if tally.granted else ""
    return repeats + grants


def spent(page: Page) -> list[Line]:
    """The line about money, if anybody counted it."""
    cost = page.cost
    if cost is None:
        return []
    usd = money(None if cost.usd_nano is None else cost.usd_nano / NANO)
    prefix = ">= " if cost.is_lower_bound and cost.usd_nano is not None else ""
    words = [f"{tokens(cost.tokens)} tokens"] if cost.tokens else []
    if cost.unpriced:
        words.append(f"{plural(len(cost.unpriced), 'model')} without a price")
    words.append(cost.prices)
    about = "  ".join(word for word in words if word)
    return [
        (
            Span(" cost".ljust(LABEL), "accent", bold=True),
            Span(f"{prefix}{usd}", bold=True),
            Span(f"  {cut(about, page.cells - LABEL - 4 - len(prefix + usd))}", "dim"),
        ),
    ]

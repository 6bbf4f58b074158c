"""What a gate would have done, and what it all cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from watchgate.cli.lookback.picture import Line, Span, cut
from watchgate.cli.lookback.words import LABEL, Page
from watchgate.core.amounts import money, plural, tokens
from watchgate.core.usage.meter import NANO

if TYPE_CHECKING:
    from watchgate.core.lookback.report import Tally


def gates(page: Page) -> list[Line]:
    """What each profile would have held and denied."""
    lines: list[Line] = [] if page.tight else [(Span(" With watchgate", bold=True),)]
    for profile, tally in (("guard", page.report.guard), ("strict", page.report.strict)):
        label = Span(f" {profile}".ljust(LABEL), "accent", bold=True)
        lines.append((label, *_held(tally)))
        why = "" if page.tight else _why(profile, tally)
        more = filter(None, (why, _repeats(tally)))
        lines += [(Span(" " * LABEL), Span(told, "dim")) for told in more]
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
    """Why guard holds more than what is grave: in some sessions nobody else would be asked."""
    rest = tally.held - tally.grave
    if profile != "guard" or not rest:
        return ""
    return f"{rest:,} of them for no rule knows them, and nobody else would be asked"


def _repeats(tally: Tally) -> str:
    if not tally.again:
        return ""
    told = f"{tally.again:,} the very same again"
    grants = f"; standing grants would answer {tally.granted:,}" if tally.granted else ""
    return told + grants


def spent(page: Page) -> list[Line]:
    """The line about money, if anybody counted it."""
    cost = page.cost
    if cost is None:
        return []
    usd = money(None if cost.usd_nano is None else cost.usd_nano / NANO)
    least = ">= " if cost.least and cost.usd_nano is not None else ""
    words = [f"{tokens(cost.tokens)} tokens"] if cost.tokens else []
    if cost.unpriced:
        words.append(f"{plural(len(cost.unpriced), 'model')} without a price")
    words.append(cost.prices)
    about = "  ".join(word for word in words if word)
    return [
        (
            Span(" cost".ljust(LABEL), "accent", bold=True),
            Span(f"{least}{usd}", bold=True),
            Span(f"  {cut(about, page.cells - LABEL - 4 - len(least + usd))}", "dim"),
        ),
    ]

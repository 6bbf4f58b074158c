"""A look back as a page: the numbers, the gravest calls, and what a gate would have done."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from watchgate.cli.lookback.gates import gates, rates, spent
from watchgate.cli.lookback.grave import gravest
from watchgate.cli.lookback.picture import PARTS, Line, Span, apart, clipped, width_of
from watchgate.cli.lookback.words import INK, LABEL, Page
from watchgate.core.agent_state import AgentState, install_command
from watchgate.core.amounts import plural
from watchgate.core.text import safe_text

if TYPE_CHECKING:
    from watchgate.core.policy.assessment import Risk

MIN_CELLS, MAX_CELLS = 60, 120
_EIGHTHS = 8
_MEANS: dict[Risk, str] = {
    "critical": "wipes, leaks, or runs what it downloads",
    "high": "destroys work, leaves the project, takes rights",
    "unknown": "nobody can tell before it runs",
    "medium": "writes in the project, installs, downloads",
    "low": "only reads",
}


def composed(page: Page) -> list[Line]:
    """All lines of the page."""
    blank: list[Line] = [] if page.tight else [()]
    lines: list[Line] = [*_head(page), *blank, *_bars(page), ()]
    if page.report.grave and not page.private:
        lines += [*gravest(page), *blank]
    lines += [*gates(page), *rates(page), *spent(page), *blank]
    lines += _notes(page)
    lines += [*blank, *_next(page.agents, page.cells)]
    return [clipped(line, page.cells) for line in lines]


def _next(agents: Sequence[AgentState], cells: int) -> list[Line]:
    """Return what gates the next call, by how the agents of this machine stand."""
    label = Span(" next".ljust(LABEL), "dim")
    ready = [each.agent for each in agents if each.ready]
    untrusted = [each for each in agents if each.installed and each.trusted is False]
    lines: list[Line] = [(Span(each.next, bold=True),) for each in untrusted]
    if any(each.wants_install for each in agents) or not (ready or untrusted):
        command = Span(install_command(agents), "accent", bold=True)
        lines.append((command, Span("  gates the next one", "dim")))
    if ready:
        gated = f"  shows the next one: hooks are in for {', '.join(ready)}"
        lines.append((Span("watchgate", "accent", bold=True), Span(gated, "dim")))
    else:
        lines.append((Span("watchgate demo", "accent", bold=True), Span("  shows how", "dim")))
    first, *others = lines
    second: Line = others[0] if others else ()
    whole: Line = (label, *first, *((Span("    "), *second) if second else ()))
    if not second or width_of(whole) <= cells:
        return [whole]
    return [(label, *first), (Span(" " * LABEL), *second)]


def _notes(page: Page) -> list[Line]:
    if page.tight:
        return [(Span(f" {safe_text(note)}", "dim"),) for note in page.about]
    room = page.cells - 2
    about = [each for note in page.about for each in textwrap.wrap(safe_text(note), room)]
    return [(Span(f" {each}", "dim"),) for each in about]


def _head(page: Page) -> list[Line]:
    report = page.report
    asked = (Span(" Your agents asked for "), Span(plural(report.calls, "tool call"), bold=True))
    where = Span(f" in {plural(report.sessions, 'session')} on {plural(report.days, 'day')}.")
    grave = report.risks.get("critical", 0) + report.risks.get("high", 0)
    commands = Span(f" {plural(report.commands, 'command')} among them. ")
    if not grave:
        heading: Line = (Span("None", bold=True), Span(" was of high or critical risk."))
    else:
        critical, high = (report.risks.get(risk, 0) for risk in ("critical", "high"))
        heading = (
            Span(f"{_share(grave, report.calls)} risky: "),
            *((Span(f"{critical:,} critical", "critical", bold=True),) if critical else ()),
            *((Span(" and "),) if critical and high else ()),
            *((Span(f"{high:,} high", "high", bold=True),) if high else ()),
            Span("."),
        )
    title = (Span(" watchgate", "accent", bold=True), Span(" lookback", bold=True))
    head = apart(title, (Span(page.span, "dim"),), page.cells)
    parts = ((asked, (where,)), ((commands,), heading))
    return [head, (), *(line for first, then in parts for line in _fit(first, then, page.cells))]


def _fit(first: Line, then: Line, cells: int) -> list[Line]:
    """Two parts of a sentence in one line, or in two: no number of the head may be cut off."""
    whole = (*first, *then)
    return [whole] if width_of(whole) <= cells else [first, (Span(" "), *_bare(then))]


def _bare(line: Line) -> Line:
    return (Span(line[0].text.lstrip(), line[0].ink, line[0].bold), *line[1:])


def _share(grave: int, calls: int) -> str:
    if grave == 1:
        return "One was"
    if grave * 2 > calls:
        return f"{grave:,} were"
    return f"One in {round(calls / grave):,} was" if grave else ""


def _bars(page: Page) -> list[Line]:
    report = page.report
    # What each risk means stands beside its bar where there is room for both.
    means = 50 if page.cells >= 100 else 0
    room = page.cells - LABEL - 9 - 8 - means
    largest = max((*report.risks.values(), 1))
    lines = []
    for risk, count in report.risks.items():
        bar = _bar(room, count, largest)
        ink = INK[risk]
        share = f"{100 * count / report.calls:.1f} %" if report.calls else ""
        lines.append(
            (
                Span(f" {risk}".ljust(LABEL), ink if count else "dim", bold=count > 0),
                *((Span(bar, ink),) if bar else ()),
                Span(" " * (room - len(bar))),
                Span(f"{count:,}".rjust(9), None if count else "dim", bold=count > 0),
                Span(share.rjust(8), "dim"),
                *((Span(f"  {_MEANS[risk]}", "dim"),) if means else ()),
            )
        )
    return lines


def _bar(room: int, count: int, largest: int) -> str:
    """A bar in eighths of a cell; whatever there is can be seen."""
    if not count:
        return ""
    eighths = max(2, round(_EIGHTHS * room * count / largest))
    return "█" * (eighths // _EIGHTHS) + PARTS[eighths % _EIGHTHS]

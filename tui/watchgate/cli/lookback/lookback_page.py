"""A look back as a page: the numbers, the gravest calls, and what a gate would have done.

Labels and lines that the parts of the page of a look back share.

- The calls that a gate would have held and denied, and what it all cost.
- The gravest calls of a look back, two lines each: what was asked for, and why that is grave.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from watchgate.cli.lookback.coloured_lines import PARTS, Line, Span, apart, clipped, cut, width_of
from watchgate.cli.policy.held_rates import hours_words
from watchgate.core.base.amounts import money, plural, tokens
from watchgate.core.base.text import safe_text
from watchgate.core.lookback.lookback_report import LookbackReport, ModelCost
from watchgate.core.lookback.proposals import MAX_PROPOSALS
from watchgate.core.model.agent_state import AgentState, install_command
from watchgate.core.usage.session_usage import NANO

if TYPE_CHECKING:
    from watchgate.core.lookback.lookback_report import GraveCall, ProfileTally
    from watchgate.core.lookback.proposals import Proposal
    from watchgate.core.model.assessment import Risk
    from watchgate.service.usage.transcript_look import TranscriptLook
    from watchgate.ui.base.theme import Token


LABEL = 12
"""Cells of the column that says what a line is about."""

INK: dict[Risk, Token] = {
    "critical": "critical",
    "high": "high",
    "unknown": "accent",
    "medium": "medium",
    "low": "low",
}


class LookbackPage(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a page; `about` are small notes below it, `agents` those of this machine.

    `shown` is how many of the grave calls are listed, `private` that none of them and no folder is,
    `tight` that there are few rows.
    """

    report: LookbackReport
    cost: ModelCost | None
    cells: int
    span: str
    shown: int
    private: bool = False
    tight: bool = False
    about: tuple[str, ...] = ()
    agents: tuple[AgentState, ...] = ()
    offset_s: int = 0


def day(at_us: int, offset_s: int) -> str:
    """The day of a moment (UTC µs) for people; the clock is so far ahead of UTC."""
    local = datetime.fromtimestamp(at_us / 1_000_000, UTC) + timedelta(seconds=offset_s)
    return f"{local.day} {local:%b}"


def span_of(report: LookbackReport, offset_s: int) -> str:
    """The days that a report is about, in words."""
    until = datetime.fromtimestamp(report.now_us / 1_000_000, UTC) + timedelta(seconds=offset_s)
    return f"{day(report.since_us, offset_s)} - {until.day} {until:%b %Y}"


def reader_notes(
    look: TranscriptLook, report: LookbackReport, policy_names: str, *, whole: bool
) -> tuple[str, ...]:
    """Returns the notes that a reader needs to understand the numbers."""
    agents = ", ".join(f"{each.agent} {each.calls:,}" for each in report.agents)
    subs = f"; {report.by_subs:,} by sub-agents" if report.by_subs else ""
    notes = [
        f"Counted is what agents asked for, run or not: {agents}{subs}.",
        f"Judged by {policy_names}. Nothing was changed or sent.",
    ]
    if look.unreadable_files or look.unreadable_lines:
        notes.append(unreadable_words(look))
    if report.undated:
        notes.append(f"Not counted: {plural(report.undated, 'call')} without a time.")
    if not whole:
        notes.append(f"Stopped after {look.read:,} of {len(look.files):,} files, the newest first.")
    return tuple(notes)


def unreadable_words(look: TranscriptLook) -> str:
    """Says how much could not be read."""
    counts = ((look.unreadable_files, "file"), (look.unreadable_lines, "line"))
    counted = " and ".join(plural(count, noun) for count, noun in counts if count)
    return f"Unreadable and not counted: {counted}."


def path_below_home(path: str, home: str) -> str:
    """The path with the home folder as `~`."""
    return f"~{path[len(home) :]}" if path == home or path.startswith(f"{home}/") else path


_ROOMY_CELLS = 80


def rates(page: LookbackPage) -> list[Line]:
    """Returns the lines with each profile's held calls an hour, and with the best remedies."""
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


def gates(page: LookbackPage) -> list[Line]:
    """Draws what each profile would have held and denied."""
    lines: list[Line] = [] if page.tight else [(Span(" With watchgate", bold=True),)]
    for profile, tally in (("guard", page.report.guard), ("strict", page.report.strict)):
        label = Span(f" {profile}".ljust(LABEL), "accent", bold=True)
        lines.append((label, *_held(tally)))
        why = "" if page.tight else _why(profile, tally)
        more = filter(None, (why, _repeats(tally)))
        lines += [(Span(" " * LABEL), Span(line, "dim")) for line in more]
    return lines


def _held(tally: ProfileTally) -> Line:
    if not tally.held and not tally.denied:
        return (Span("would have stopped nothing"),)
    denied = (Span(" and denied "), Span(f"{tally.denied:,}", bold=True)) if tally.denied else ()
    return (
        Span("would have held "),
        Span(f"{tally.held:,}", bold=True),
        Span(" until you answer"),
        *denied,
    )


def _why(profile: str, tally: ProfileTally) -> str:
    """Explains why guard holds more than what is grave: some sessions ask nobody else."""
    rest = tally.held - tally.grave
    if profile != "guard" or not rest:
        return ""
    return f"{rest:,} of them for no rule knows them, and nobody else would be asked"


def _repeats(tally: ProfileTally) -> str:
    if not tally.again:
        return ""
    repeats = f"{tally.again:,} the very same again"
    grants = f"; standing grants would answer {tally.granted:,}" if tally.granted else ""
    return repeats + grants


def spent(page: LookbackPage) -> list[Line]:
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


_DATE = 8


def gravest(page: LookbackPage) -> list[Line]:
    """The list with its title."""
    grave, cells = page.report.grave, page.cells
    more = len(grave) - page.shown
    title = (Span(" The gravest", bold=True),)
    counted = f"{len(grave):,} different" if more <= 0 else f"{page.shown} of {len(grave):,}"
    lines: list[Line] = [apart(title, (Span(counted, "dim"),), cells)]
    for each in _picked(grave, page.shown):
        lines += _one(each, page)
    if more > 0 and not page.tight:
        hint = Span(f"{'':{LABEL}}and {more:,} more: watchgate lookback --all", "dim")
        lines.append((hint,))
    return lines


def _picked(grave: tuple[GraveCall, ...], shown: int) -> list[GraveCall]:
    """Some of them that show what kinds there are: of each risk first one for each rule."""
    if len(grave) <= shown:
        return list(grave)
    counts: Counter[str] = Counter()
    kinds: dict[Risk, list[tuple[int, GraveCall]]] = {}
    for each in grave:
        kinds.setdefault(each.risk, []).append((counts[each.rule], each))
        counts[each.rule] += 1
    critical, high = (
        [each for _, each in sorted(kinds.get(risk, []), key=lambda pair: pair[0])]
        for risk in ("critical", "high")
    )
    few = max(shown - len(high), shown - shown * 3 // 8)
    chosen = critical[:few]
    return chosen + high[: shown - len(chosen)]


def _one(each: GraveCall, page: LookbackPage) -> list[Line]:
    room = page.cells - LABEL
    count = f"  x{each.count:,}" if each.count > 1 else ""
    when = f"  {day(each.at_us, page.offset_s)}".rjust(_DATE)
    text = cut(safe_text(each.text or each.tool), room - len(count) - len(when))
    ink = INK[each.risk]
    where = f"  {each.agent}  {safe_text(each.cwd)}" if each.cwd else f"  {each.agent}"
    where = _last(where, room // 3)
    reason = cut(safe_text(each.reason), room - len(where))
    return [
        apart(
            (Span(f" {each.risk}".ljust(LABEL), ink, bold=True), Span(text)),
            (Span(count, ink, bold=True), Span(when, "dim")),
            page.cells,
        ),
        apart((Span(" " * LABEL), Span(reason, "dim")), (Span(where, "dim"),), page.cells),
    ]


def _last(where: str, cells: int) -> str:
    """A folder is known by its end."""
    folder = where.rpartition("/")[2]
    agent = where.split("/", maxsplit=1)[0].rpartition("  ")[0]
    return where if len(where) <= cells or not agent.strip() else cut(f"{agent}  {folder}", cells)


MIN_CELLS, MAX_CELLS = 60, 120
_EIGHTHS = 8
_MEANS: dict[Risk, str] = {
    "critical": "wipes, leaks, or runs what it downloads",
    "high": "destroys work, leaves the project, takes rights",
    "unknown": "nobody can tell before it runs",
    "medium": "writes in the project, installs, downloads",
    "low": "only reads",
}


def composed(page: LookbackPage) -> list[Line]:
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
    """Returns the lines that tell what gates the next call, given the agents' states."""
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


def _notes(page: LookbackPage) -> list[Line]:
    if page.tight:
        return [(Span(f" {safe_text(note)}", "dim"),) for note in page.about]
    room = page.cells - 2
    about = [each for note in page.about for each in textwrap.wrap(safe_text(note), room)]
    return [(Span(f" {each}", "dim"),) for each in about]


def _head(page: LookbackPage) -> list[Line]:
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


def _bars(page: LookbackPage) -> list[Line]:
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

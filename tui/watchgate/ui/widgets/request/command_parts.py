"""A command in its numbered parts, as lines: a risk before each, carets and reasons below."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from watchgate.core.base.text import Span, safe_text
from watchgate.core.model.assessment import Finding, visible_findings
from watchgate.core.model.records import RequestData
from watchgate.ui.base.formats import width
from watchgate.ui.base.theme import RISK_GLYPH, RISK_RANK, RISK_TOKEN
from watchgate.ui.widgets.base.request_text import Piece, Row, marked, wrap
from watchgate.ui.widgets.base.request_words import clause
from watchgate.ui.widgets.base.sheet import INDENT, Sheet
from watchgate.ui.widgets.base.text_masking import MaskedText, Masking, mask_text

_JOINS = re.compile(r"\s*(?:&&|\|\|?&?|;|&)?\s*$")


class CommandPart(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the text (`start` to `end`), its risk, and the findings that begin in it.

    `joined` is where the operator begins that joins it to the next part. `number` is 0 where the
    text is of one piece.
    """

    start: int
    end: int
    joined: int
    number: int = 0
    risk: str = "low"
    findings: tuple[Finding, ...] = ()


def split_parts(data: RequestData, text: str) -> list[CommandPart]:
    """Returns the parts of the text, which together are all of it."""
    starts: dict[int, int] = {}
    for segment in data.segments:
        at = min(segment.span[0], starts.get(segment.number, segment.span[0]))
        starts[segment.number] = at
    numbered = sorted((at, number) for number, at in starts.items() if at < len(text))
    if len(numbered) < 2:
        findings = tuple(f for f in visible_findings(data.findings) if f.span or f.segment)
        risk = _worst([finding.risk for finding in findings])
        return [CommandPart(start=0, end=len(text), joined=len(text), risk=risk, findings=findings)]
    edges = [0, *(at for at, _ in numbered[1:]), len(text)]
    risks: dict[int, list[str]] = {number: [] for _, number in numbered}
    for segment in data.segments:
        risks.get(segment.number, []).append(segment.risk)
    about = _about(data, edges, [number for _, number in numbered])
    return [
        _part(text, number, (edges[place], edges[place + 1]), risks[number], about[number])
        for place, (_, number) in enumerate(numbered)
    ]


def findings_of(parts: list[CommandPart]) -> set[Finding]:
    """Returns the findings that stand with a part; the others are about the whole call."""
    return {finding for part in parts for finding in part.findings}


def _part(
    text: str, number: int, span: Span, risks: Sequence[str], findings: Sequence[Finding]
) -> CommandPart:
    """Returns one numbered part.

    Args:
        text: The whole text.
        number: The part's number, from 1.
        span: Its start and end.
        risks: The risks of its commands.
        findings: The findings about it.
    """
    start, end = span
    joined = _JOINS.search(text, max(start, end - 40), end)
    return CommandPart(
        start=start,
        end=end,
        joined=joined.start() if joined else end,
        number=number,
        risk=_worst([*risks, *(finding.risk for finding in findings)]),
        findings=tuple(findings),
    )


def _worst(risks: Sequence[str]) -> str:
    return max(risks, key=lambda risk: RISK_RANK.get(risk, 2), default="low")


def _about(
    data: RequestData, edges: Sequence[int], numbers: Sequence[int]
) -> dict[int, list[Finding]]:
    """Returns the findings of each part: those that begin in it, or are about all of it."""
    by_part: dict[int, list[Finding]] = {number: [] for number in numbers}
    for finding in visible_findings(data.findings):
        if finding.span is None:
            if finding.segment in by_part:
                by_part[finding.segment].append(finding)
        elif finding.span[0] < edges[-1]:
            by_part[numbers[bisect_right(edges, finding.span[0]) - 1]].append(finding)
    return by_part


NARROWEST_REASON = 24


def draw_parts(sheet: Sheet, text: str, parts: Sequence[CommandPart], masking: Masking) -> int:
    """Writes all parts; returns the lines that the text itself takes."""
    return sum(_draw(sheet, text, part, len(parts), masking) for part in parts)


def draw_finding(sheet: Sheet, finding: Finding, column: int) -> None:
    """Writes a finding about no stretch of the text: its risk, its reason, a safer way."""
    line = sheet.line().to(column)
    line.add(RISK_GLYPH[finding.risk], RISK_TOKEN[finding.risk], bold=True)
    room = sheet.cells - column - 6
    named = not sheet.payload
    for place, row in enumerate(_reasons([finding], room, finding.risk, named=named)):
        sheet.rows([row], column + 5, line if place == 0 else None)


def _draw(sheet: Sheet, text: str, part: CommandPart, count: int, masking: Masking) -> int:
    """Writes one part; returns the lines that its text takes.

    Args:
        sheet: The sheet to write on.
        text: The whole text.
        part: The part of it.
        count: The number of parts.
        masking: Which parts of the text are masked.
    """
    first, last = bisect_left(masking.starts, part.start), bisect_left(masking.starts, part.end)
    starts = tuple(at - part.start for at in masking.starts[first:last])
    own = mask_text(text[part.start : part.end], msgspec.structs.replace(masking, starts=starts))
    findings = tuple(_within(finding, part) for finding in part.findings)
    column = INDENT
    head = None
    if part.number:
        head = sheet.line().add(f"{part.number}/{count}", "dim")
        column = head.left_cells + 2
        head.to(column).add(RISK_GLYPH.get(part.risk, "!!"), RISK_TOKEN.get(part.risk, "high"),
                            bold=part.risk not in ("low", "medium"))  # fmt: skip
        column += 5
    rows = wrap(_joined(own, findings, part), sheet.cells - column - 1, lines=True)
    spans = _by_span(own, findings)
    begin = 0
    for row in rows:
        sheet.rows([row], column, head)
        head = None
        end = begin + sum(len(piece.text) for piece in row)
        line = "".join(piece.text for piece in row)
        for (start, stop), about in spans:
            if begin <= start < end or (start == end and row is rows[-1]):
                at = column + width(line[: start - begin])
                cells = width(line[start - begin : stop - begin])
                _carets(sheet, (at, at + cells), about, part.risk, column)
        begin = end
    for finding in findings:
        if finding.span is None:
            draw_finding(sheet, finding, column)
    return len(rows)


def _within(finding: Finding, part: CommandPart) -> Finding:
    """Returns the finding with its span relative to the part, and no longer than the part."""
    if finding.span is None:
        return finding
    start, end = finding.span
    length = part.end - part.start
    span = (max(0, start - part.start), min(length, end - part.start))
    return msgspec.structs.replace(finding, span=span)


def _joined(own: MaskedText, findings: tuple[Finding, ...], part: CommandPart) -> Iterator[Piece]:
    """Yields the pieces of a part, the operator at its end dim."""
    join = own.at(part.joined - part.start)
    done = 0
    for piece in marked(own, findings):
        plain = max(0, join - done) if piece.ink == "fg" and not piece.hidden else len(piece.text)
        done += len(piece.text)
        if plain:
            yield msgspec.structs.replace(piece, text=piece.text[:plain])
        if plain < len(piece.text):
            yield Piece(piece.text[plain:], "dim")


def _by_span(own: MaskedText, findings: Iterable[Finding]) -> list[tuple[Span, list[Finding]]]:
    """Returns the findings by their stretch of the shown text, the graver first."""
    by_span: dict[Span, list[Finding]] = {}
    for finding in findings:
        if finding.span is not None:
            by_span.setdefault(own.span(finding.span), []).append(finding)
    graver = {span: max(RISK_RANK[each.risk] for each in about) for span, about in by_span.items()}
    return sorted(by_span.items(), key=lambda item: (item[0][0], -graver[item[0]], item[0][1]))


def _carets(sheet: Sheet, cells: Span, about: list[Finding], risk: str, column: int) -> None:
    """Writes carets below some cells, and the reasons behind them, or below in fewer rows.

    Args:
        sheet: The sheet to write on.
        cells: The first cell and the one behind the last.
        about: The findings.
        risk: The risk of the part.
        column: The cell at which the part begins.
    """
    about = sorted(about, key=lambda finding: -RISK_RANK[finding.risk])
    first, end = cells
    line = sheet.line().to(first).add("^" * max(1, end - first), RISK_TOKEN[about[0].risk])
    behind = line.left_cells + 2
    room, named = sheet.cells - behind - 1, not sheet.payload
    below = _reasons(about, sheet.cells - column - 3, risk, named=named)
    if room >= NARROWEST_REASON:
        side_rows = _reasons(about, room, risk, named=named)
        if len(side_rows) <= len(below) + 1:
            sheet.rows(side_rows, behind, line)
            return
    sheet.rows(below, column + 2)


def _reasons(about: list[Finding], room: int, part_risk: str, *, named: bool) -> list[Row]:
    """Returns reasons, rules (if `named`) and safer ways as rows.

    A finding's risk goes with it where it is not `part_risk`.
    """
    rows: list[Row] = []
    for finding in about:
        glyph = f"{RISK_GLYPH[finding.risk]} " if finding.risk != part_risk else ""
        words = [
            Piece(glyph, RISK_TOKEN[finding.risk]),
            *marked(mask_text(clause(finding.reason)), ()),
            *([Piece("  "), Piece(safe_text(finding.rule), "dim")] if named else []),
        ]
        rows += wrap(words, room)
        if finding.suggest:
            rows += wrap([Piece("safer  ", "dim"), *marked(mask_text(finding.suggest), ())], room)
    return rows

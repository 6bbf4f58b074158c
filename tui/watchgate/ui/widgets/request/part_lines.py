"""A command in its numbered parts, as lines: a risk before each, carets and reasons below."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from watchgate.core.policy.assessment import Finding
from watchgate.core.text import Span, safe_text
from watchgate.ui.formats import width
from watchgate.ui.theming.theme import RISK_GLYPH, RISK_RANK, RISK_TOKEN
from watchgate.ui.widgets.request.command_text import Piece, Row, marked, wrap
from watchgate.ui.widgets.request.parts import Part
from watchgate.ui.widgets.request.request_words import clause
from watchgate.ui.widgets.request.sheet import INDENT, Sheet
from watchgate.ui.widgets.shown import Look, Shown, shown

NARROWEST_REASON = 24


def draw_parts(sheet: Sheet, text: str, parts: Sequence[Part], masking: Look) -> int:
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


def _draw(sheet: Sheet, text: str, part: Part, count: int, masking: Look) -> int:
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
    own = shown(text[part.start : part.end], msgspec.structs.replace(masking, starts=starts))
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


def _within(finding: Finding, part: Part) -> Finding:
    """Returns the finding with its span relative to the part, and no longer than the part."""
    if finding.span is None:
        return finding
    start, end = finding.span
    length = part.end - part.start
    span = (max(0, start - part.start), min(length, end - part.start))
    return msgspec.structs.replace(finding, span=span)


def _joined(own: Shown, findings: tuple[Finding, ...], part: Part) -> Iterator[Piece]:
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


def _by_span(own: Shown, findings: Iterable[Finding]) -> list[tuple[Span, list[Finding]]]:
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
            *marked(shown(clause(finding.reason)), ()),
            *([Piece("  "), Piece(safe_text(finding.rule), "dim")] if named else []),
        ]
        rows += wrap(words, room)
        if finding.suggest:
            rows += wrap([Piece("safer  ", "dim"), *marked(shown(finding.suggest), ())], room)
    return rows

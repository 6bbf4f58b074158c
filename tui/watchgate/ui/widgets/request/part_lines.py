"""The parts of a command as lines: number and risk before each, carets and reasons below it."""

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


def draw_parts(sheet: Sheet, text: str, parts: Sequence[Part], how: Look) -> int:
    """Write all parts; returns the lines that the text itself takes."""
    return sum(_draw(sheet, text, part, len(parts), how) for part in parts)


def draw_finding(sheet: Sheet, finding: Finding, column: int) -> None:
    """Write a finding about no stretch of the text: its risk, its reason, a safer way."""
    line = sheet.line().to(column)
    line.add(RISK_GLYPH[finding.risk], RISK_TOKEN[finding.risk], bold=True)
    room = sheet.cells - column - 6
    named = not sheet.payload
    for place, row in enumerate(_reasons([finding], room, finding.risk, named=named)):
        sheet.rows([row], column + 5, line if place == 0 else None)


def _draw(sheet: Sheet, text: str, part: Part, count: int, how: Look) -> int:
    first, last = bisect_left(how.starts, part.start), bisect_left(how.starts, part.end)
    starts = tuple(at - part.start for at in how.starts[first:last])
    own = shown(text[part.start : part.end], msgspec.structs.replace(how, starts=starts))
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
    """The finding with its span counted from the part's start, and no longer than the part."""
    if finding.span is None:
        return finding
    start, end = finding.span
    length = part.end - part.start
    span = (max(0, start - part.start), min(length, end - part.start))
    return msgspec.structs.replace(finding, span=span)


def _joined(own: Shown, findings: tuple[Finding, ...], part: Part) -> Iterator[Piece]:
    """The pieces of a part, the operator at its end dim."""
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
    """The findings that share a stretch of the shown text, by where it begins, the graver first."""
    found: dict[Span, list[Finding]] = {}
    for finding in findings:
        if finding.span is not None:
            found.setdefault(own.span(finding.span), []).append(finding)
    graver = {span: max(RISK_RANK[each.risk] for each in about) for span, about in found.items()}
    return sorted(found.items(), key=lambda item: (item[0][0], -graver[item[0]], item[0][1]))


def _carets(sheet: Sheet, cells: Span, about: list[Finding], risk: str, column: int) -> None:
    """Carets below some cells, and why: behind them, or below where that takes fewer rows."""
    about = sorted(about, key=lambda finding: -RISK_RANK[finding.risk])
    first, end = cells
    line = sheet.line().to(first).add("^" * max(1, end - first), RISK_TOKEN[about[0].risk])
    behind = line.left_cells + 2
    room, named = sheet.cells - behind - 1, not sheet.payload
    below = _reasons(about, sheet.cells - column - 3, risk, named=named)
    if room >= NARROWEST_REASON:
        beside = _reasons(about, room, risk, named=named)
        if len(beside) <= len(below) + 1:
            sheet.rows(beside, behind, line)
            return
    sheet.rows(below, column + 2)


def _reasons(about: list[Finding], room: int, beside: str, *, named: bool) -> list[Row]:
    """Why, by which rule (if that is `named`), and a safer way.

    The risk goes with it where it is not the one `beside` them.
    """
    rows: list[Row] = []
    for finding in about:
        glyph = f"{RISK_GLYPH[finding.risk]} " if finding.risk != beside else ""
        said = [
            Piece(glyph, RISK_TOKEN[finding.risk]),
            *marked(shown(clause(finding.reason)), ()),
            *([Piece("  "), Piece(safe_text(finding.rule), "dim")] if named else []),
        ]
        rows += wrap(said, room)
        if finding.suggest:
            rows += wrap([Piece("safer  ", "dim"), *marked(shown(finding.suggest), ())], room)
    return rows

"""The section of a request that shows an edit: changes by file, remarks by line, other input."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence, Set
from itertools import groupby
from typing import Any

import msgspec

from watchgate.core.base.amounts import plural
from watchgate.core.base.text import Span, hidden_spans
from watchgate.core.model.assessment import Finding, Risk
from watchgate.core.model.events import Tool
from watchgate.core.model.records import RequestData
from watchgate.core.tools import tool_input
from watchgate.core.tools.diff_rows import DiffRow, folded
from watchgate.core.tools.edit_blocks import EditBlock, blocks
from watchgate.ui.base.formats import covered, cut_front, width
from watchgate.ui.base.theme import RISK_GLYPH, RISK_RANK, RISK_TOKEN, Token
from watchgate.ui.widgets.base.remaining_input import RemainingInput, remaining_input
from watchgate.ui.widgets.base.request_text import plain
from watchgate.ui.widgets.base.request_words import too_long
from watchgate.ui.widgets.base.sheet import INDENT, VALUES, Sheet
from watchgate.ui.widgets.diff.diff_lines import draw_rows

HIDDEN_RULE = "text.hidden"
NOTES_SHOWN = 8

_WORD = re.compile(r"[^\s\"'`<>()]+")


class LineNote(msgspec.Struct, frozen=True):
    """A remark on one line: its number, the risk of the rule behind it, and words."""

    line: int
    risk: Risk | None
    words: str


def marked_blocks(blocks: Sequence[EditBlock], findings: Sequence[Finding]) -> list[EditBlock]:
    """Returns the blocks with hidden characters of inserted lines marked in their rule's colour."""
    rule = hidden_rule(findings)
    if rule is None:
        return list(blocks)
    return [
        msgspec.structs.replace(block, rows=tuple(_marked(row, rule) for row in block.rows))
        for block in blocks
    ]


def hidden_rule(findings: Sequence[Finding]) -> Finding | None:
    """Returns the finding that holds the call for its hidden characters."""
    return next((each for each in findings if each.rule.startswith(HIDDEN_RULE)), None)


def notes_of(blocks: Sequence[EditBlock], findings: Sequence[Finding]) -> list[LineNote]:
    """Returns a remark for each inserted line that hides something, by its first hidden character.

    Characters are named as the difference draws them.
    """
    rule = hidden_rule(findings)
    return [
        LineNote(row.new, rule.risk if rule else None, _words(row.text, spans))
        for block in blocks
        for row in block.rows
        if row.sign == "+" and row.new is not None and (spans := hidden_spans(row.text))
    ]


def _words(text: str, spans: Sequence[Span]) -> str:
    start, _ = spans[0]
    more = f" and {len(spans) - 1} more" if len(spans) > 1 else ""
    where = " in an address" if "://" in text[slice(*_around(text, spans[0]))] else ""
    return f"hidden character{where}, drawn as {text[start]}{more}"


def _marked(row: DiffRow, rule: Finding) -> DiffRow:
    if row.sign != "+":
        return row
    spans = dict.fromkeys(_around(row.text, span) for span in hidden_spans(row.text))
    marks = tuple(msgspec.structs.replace(rule, span=span) for span in spans)
    return msgspec.structs.replace(row, marks=(*row.marks, *marks)) if marks else row


def _around(text: str, span: Span) -> Span:
    """Returns the word that holds a hidden character: what a person would take it for."""
    for match in _words_near(text, span):
        if match.start() <= span[0] and span[1] <= match.end():
            return match.span()
    return span


def _words_near(text: str, span: Span) -> Iterator[re.Match[str]]:
    """Yields the words that begin no more than a long address before a place."""
    return _WORD.finditer(text, max(0, span[0] - 500), span[1] + 500)


HEADING_CELLS = 24
"""The cells that the heading of a change needs besides its path."""


def undrawn_input(data: RequestData, *, bare: bool = False) -> RemainingInput:
    """Returns the input besides the text and the changes that are drawn of it."""
    if data.tool.cls != "edit":
        return remaining_input(data, bare=bare)
    left = _undrawn(data.tool)
    return remaining_input(
        msgspec.structs.replace(data, tool=msgspec.structs.replace(data.tool, input=left)),
        bare=bare,
    )


def names_itself(data: RequestData, cells: int) -> bool:
    """Returns whether the heading of an edit's changes shows all that its text would show."""
    paths = tool_input.paths(data.tool)
    if data.tool.cls != "edit" or len(paths) != 1:
        return False
    marked = path_findings(data)
    if any(each.span and each not in marked for each in data.findings):
        return False
    if width(covered(paths[0])) + HEADING_CELLS > cells:
        return False
    if not tool_input.patch(data.tool):
        return any(tool_input.replacements(data.tool))
    changes = blocks(data.tool, bare=True)
    return bool(changes) and all(block.path == paths[0] for block in changes)


def path_findings(data: RequestData) -> list[Finding]:
    """Returns the findings about the one path of an edit, which the change's heading marks."""
    paths = tool_input.paths(data.tool)
    if len(paths) != 1:
        return []
    written = (paths[0], paths[0].rpartition("/")[2])
    spans = [(each, data.summary[slice(*each.span)]) for each in data.findings if each.span]
    return [
        each for each, text in spans if text in written or (text and paths[0].endswith(f"/{text}"))
    ]


def _undrawn(tool: Tool) -> dict[str, Any]:
    """Returns the fields of an edit that are neither an old or new text nor a patch."""
    if patch := tool_input.patch(tool):
        drawn = {patch}  # nothing else of the input is drawn then
    else:
        drawn = {each for old, new in tool_input.replacements(tool) for each in (*old, *new)}
    if len(paths := tool_input.paths(tool)) == 1:
        drawn.add(paths[0])
    return {key: value for key, value in tool.input.items() if not _is_drawn(key, value, drawn)}


def _is_drawn(key: str, value: object, drawn: Set[str]) -> bool:
    """Returns whether the changes show a field; equal words in another field do not count."""
    if key in tool_input.PARTED and isinstance(value, list):
        return all(
            isinstance(part, dict) and all(_is_text_drawn(*each, drawn) for each in part.items())
            for part in value
        )
    return _is_text_drawn(key, value, drawn)


def _is_text_drawn(key: str, value: object, drawn: Set[str]) -> bool:
    return key in tool_input.EDIT_KEYS and isinstance(value, str) and value in drawn


DRAWN_ROWS = 2_000

_MARK = 5
_LONGEST_PATH = 400


def draw_edit(sheet: Sheet, data: RequestData) -> None:
    """Writes what an edit removes and inserts; nothing for calls that edit nothing.

    Lines that stay the same are folded only where the whole input stands below: nobody may allow
    what they were not shown.
    """
    # What is too long to be allowed is not drawn to its end: that would take seconds.
    left = DRAWN_ROWS if too_long(data) else sys.maxsize
    marked = marked_blocks(blocks(data.tool, bare=sheet.masking.bare), data.findings)
    risks = [finding.risk for finding in path_findings(data)]
    worst = max(risks, key=lambda risk: RISK_RANK.get(risk, 2), default="")
    for path, own in groupby(marked, key=lambda block: block.path):
        several = list(own)
        sheet.gap()
        if sheet.air > 1:
            sheet.gap()
        _heading(sheet, path, several, worst)
        for number, block in enumerate(several, 1):
            note = block.note
            if len(several) > 1:
                sheet.gap()
                note = f"change {number} of {len(several)}" + (f"   {note}" if note else "")
            if note:
                sheet.rows(plain(note, sheet.room, sheet.masking))
            elif sheet.air and number == 1:
                sheet.gap()
            rows = block.rows if sheet.payload else folded(block.rows)
            sheet.lines.extend(draw_rows(rows[:left], sheet.cells, sheet.colors, sheet.masking))
            if len(rows) > left:
                sheet.line().add(f"{plural(len(rows) - left, 'line')} more", "dim")
            left = max(0, left - len(rows))


def line_notes(data: RequestData, *, bare: bool = False) -> list[LineNote]:
    """Returns the remarks on single lines of an edit."""
    return notes_of(blocks(data.tool, bare=bare), data.findings)


def draw_line_notes(sheet: Sheet, line_notes: Sequence[LineNote]) -> None:
    """Writes remarks: the rule's risk, the line, the words; the last row counts the rest."""
    for note in line_notes[:NOTES_SHOWN]:
        line = sheet.line()
        if note.risk is not None:
            risk = note.risk
            line.add(RISK_GLYPH[risk], RISK_TOKEN[risk], bold=risk not in ("low", "medium"))
        line.to(INDENT + _MARK).add(f"line {note.line}", "dim")
        column = max(VALUES, line.left_cells + 2)
        sheet.rows(plain(note.words, sheet.cells - column - 1), column, line)
    if len(line_notes) > NOTES_SHOWN:
        more = plural(len(line_notes) - NOTES_SHOWN, "line")
        sheet.line().to(INDENT + _MARK).add(f"{more} more with a hidden character", "dim")


def _heading(sheet: Sheet, path: str, blocks: Sequence[EditBlock], risk: str) -> None:
    """Writes the file, its name bold, the sizes of its change, and what the line numbers count.

    `risk` is the one of the path itself, in whose colour it is drawn.
    """
    added = sum(block.size[0] for block in blocks)
    removed = sum(block.size[1] for block in blocks)
    line = sheet.line()
    size = f"+{added} -{removed}" if added or removed else ""
    room = max(8, sheet.room - len(size) - 4)
    shown = cut_front(covered(path[-_LONGEST_PATH:]), room) if path else "changes"
    folder, slash, name = shown.rpartition("/")
    ink: Token = RISK_TOKEN.get(risk, "fg" if path else "dim")
    line.add(folder + slash, ink, bold=bool(risk)).add(name, ink, bold=bool(path))
    line.add(f"   {size}", "dim")
    counts = _counts(blocks)
    shown_note = "shown to its end" if sheet.all_shown else ""
    for words in (", ".join(filter(None, (shown_note, counts))), shown_note):
        if line.left_cells + len(words) + 4 < sheet.cells:
            line.right(f"{words} ", "dim")
            break


def _counts(blocks: Sequence[EditBlock]) -> str:
    numbers = [row.new or row.old or 0 for block in blocks for row in block.rows if row.sign != "@"]
    if not numbers:
        return ""
    if all(block.counted for block in blocks):
        first, last = min(numbers), max(numbers)
        return f"lines {first} to {last}" if last > first else f"line {first}"
    return "lines counted from the change"

"""The section of a request that shows an edit: changes by file, remarks by line, other input."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby

from watchgate.core.amounts import plural
from watchgate.core.diff.blocks import Block, blocks
from watchgate.core.diff.rows import folded
from watchgate.core.records import RequestData
from watchgate.ui.covered import covered
from watchgate.ui.formats import cut_front
from watchgate.ui.theming.palettes import Token
from watchgate.ui.theming.theme import RISK_GLYPH, RISK_RANK, RISK_TOKEN
from watchgate.ui.widgets.diff.halves import drawn
from watchgate.ui.widgets.diff.notes import NOTES_SHOWN, Note, marked_blocks, notes
from watchgate.ui.widgets.request.command_text import plain
from watchgate.ui.widgets.request.request_words import too_long
from watchgate.ui.widgets.request.sheet import INDENT, VALUES, Sheet
from watchgate.ui.widgets.request.told import path_findings

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
            sheet.lines.extend(drawn(rows[:left], sheet.cells, sheet.colors, sheet.masking))
            if len(rows) > left:
                sheet.line().add(f"{plural(len(rows) - left, 'line')} more", "dim")
            left = max(0, left - len(rows))


def line_notes(data: RequestData, *, bare: bool = False) -> list[Note]:
    """Returns the remarks on single lines of an edit."""
    return notes(blocks(data.tool, bare=bare), data.findings)


def draw_line_notes(sheet: Sheet, line_notes: Sequence[Note]) -> None:
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


def _heading(sheet: Sheet, path: str, blocks: Sequence[Block], risk: str) -> None:
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


def _counts(blocks: Sequence[Block]) -> str:
    numbers = [row.new or row.old or 0 for block in blocks for row in block.rows if row.sign != "@"]
    if not numbers:
        return ""
    if all(block.counted for block in blocks):
        first, last = min(numbers), max(numbers)
        return f"lines {first} to {last}" if last > first else f"line {first}"
    return "lines counted from the change"

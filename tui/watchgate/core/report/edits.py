"""The lines that an edit changes, on coloured grounds, each with its sign."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from watchgate.core.diff.blocks import Block
from watchgate.core.diff.rows import Row, folded
from watchgate.core.report.elements import Lines, element

LINES_SHOWN = 400
"""Lines of one change; whoever needs all of them has the export as JSON lines."""

LINES_OPEN = 40
"""A longer change is folded, so that the calls around it are found."""

COMPARED_BYTES = 256 << 10
"""An edit of more is not compared: it could take seconds, and would fill the page."""

_CLASSES = {"+": "add", "-": "del", "@": "far"}


def drawn_edit(edit: Block) -> Element:
    """Draws one change with its file above it."""
    rows = folded(edit.rows)
    left = len(rows) - LINES_SHOWN
    long = len(rows) > LINES_OPEN
    added, gone = edit.size
    return element(
        "details" if long else "figure",
        element(
            "summary" if long else "figcaption",
            element("code", edit.path),
            f"  +{added:,} -{gone:,}  ",
            edit.note,
        ),
        element("pre", *map(_drawn, rows[:LINES_SHOWN]), class_="diff"),
        element("p", f"{left:,} more lines", class_="left") if left > 0 else None,
    )


def _drawn(line: Row) -> Element:
    sign = " " if line.sign == "@" else line.sign
    return element("span", Lines(f"{sign} {line.text}\n"), class_=_CLASSES.get(line.sign, ""))

"""What an edit changes, as lines on coloured grounds, each with its sign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol
from xml.etree.ElementTree import Element

from watchgate.core.events import Tool
from watchgate.core.report.elements import Lines, element

LINES_SHOWN = 400
"""Lines of one change; whoever needs all of them has the export as JSON lines."""

LINES_OPEN = 40
"""A longer change is folded, so that the calls around it are found."""

COMPARED_BYTES = 256 << 10
"""An edit of more is not compared: it could take seconds, and would fill the page."""

_CLASSES = {"+": "add", "-": "del", "@": "far"}


class Line(Protocol):
    """One line: `+` put in, `-` taken away, blank kept, `@` said about those around it."""

    @property
    def sign(self) -> str:
        """Which of them it is."""

    @property
    def text(self) -> str:
        """The line without its sign."""


class Edit(Protocol):
    """The changes in one place of one file; `note` says what the lines do not."""

    @property
    def path(self) -> str:
        """The file, as the call names it."""

    @property
    def note(self) -> str:
        """What else there is to know."""

    @property
    def rows(self) -> Sequence[Line]:
        """Its lines."""


Edits = Callable[[Tool], Sequence[Edit]]
"""The changes of a call, in its order; none for one that edits nothing."""


def drawn_edit(edit: Edit) -> Element:
    """One change with its file above it."""
    left = len(edit.rows) - LINES_SHOWN
    long = len(edit.rows) > LINES_OPEN
    signs = [row.sign for row in edit.rows]
    size = f"+{signs.count('+'):,} -{signs.count('-'):,}"
    return element(
        "details" if long else "figure",
        element(
            "summary" if long else "figcaption",
            element("code", edit.path),
            f"  {size}  ",
            edit.note,
        ),
        element("pre", *map(_drawn, edit.rows[:LINES_SHOWN]), class_="diff"),
        element("p", f"{left:,} more lines", class_="left") if left > 0 else None,
    )


def _drawn(line: Line) -> Element:
    sign = " " if line.sign == "@" else line.sign
    return element("span", Lines(f"{sign} {line.text}\n"), class_=_CLASSES.get(line.sign, ""))

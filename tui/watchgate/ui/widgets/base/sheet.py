"""The sheet that a request or a call is written on: titles, rows and facts at one width."""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.ui.base.theme import Palette
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_text import Row, plain
from watchgate.ui.widgets.base.text_masking import COVERED, Masking

INDENT = 2
VALUES = 15


class Sheet:
    """Lines in the making, all at one width and in one palette.

    `comments` are the numbers of the lines that say nothing of what would run.
    """

    def __init__(
        self,
        cells: int,
        colors: Palette,
        home_dir: str = "",
        *,
        air: int = 0,
        bare: bool = False,
        reveal: str = "u",
        payload: str = "",
        all_shown: bool = False,
    ) -> None:
        """Begins an empty sheet.

        Args:
            cells: Width of the lines.
            colors: The palette.
            home_dir: The path shown as `~`.
            air: Blank lines: 1 sets titles apart from what is below them, 2 also sections from
                each other.
            bare: Whether secrets are shown.
            reveal: The key that shows or masks them.
            payload: The key that shows the raw input elsewhere, empty where it has to stand
                here.
            all_shown: Whether all of the request was on the screen.
        """
        self.cells, self.colors, self.home_dir, self.air = cells, colors, home_dir, air
        self.masking = Masking(bare=True) if bare else COVERED
        self.reveal, self.payload, self.all_shown = reveal, payload, all_shown
        self.lines: list[StyledLine] = []
        self.comments = range(0)

    @property
    def room(self) -> int:
        """The cells of a line between the margins."""
        return self.cells - INDENT - 1

    def line(self) -> StyledLine:
        """Adds a new indented line and returns it."""
        line = StyledLine(self.colors).to(INDENT)
        self.lines.append(line)
        return line

    def gap(self) -> None:
        """Adds an empty line."""
        self.line()

    def section(self, name: str, aside: str = "") -> None:
        """Adds a section's title, with a remark on its size."""
        self.gap()
        if self.air > 1:
            self.gap()
        line = self.line().add(name, "dim")
        if aside:
            line.right(f"{aside} ", "dim")
        if self.air:
            self.gap()

    def rows(
        self, rows: Iterable[Row], column: int = INDENT, first: StyledLine | None = None
    ) -> None:
        """Adds rows of text from a column on, each on its own line; the first may be begun."""
        for row in rows:
            line = (first or self.line()).to(column)
            first = None
            for piece in row:
                piece.onto(line, underline=False)

    def fact(self, label: str, value: str, *, bold: bool = False) -> None:
        """Adds a label and its value, wrapped; nothing without a value."""
        if not value:
            return
        for number, row in enumerate(plain(value, self.cells - VALUES - 1, self.masking)):
            line = self.line().add(label if number == 0 else "", "dim").to(VALUES)
            for piece in row:
                line.add(piece.text, piece.ink, bold=bold, reverse=piece.hidden)

    def stated(self, label: str, rows: Iterable[Row]) -> None:
        """Adds a label and rows of text next to it."""
        self.rows(rows, VALUES, self.line().add(label, "dim"))

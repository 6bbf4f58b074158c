"""The sheet that a request or a call is written on: titles, rows and facts at one width."""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.ui.theming.palettes import Palette
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.request.command_text import Row, plain
from watchgate.ui.widgets.shown import COVERED, Look

INDENT = 2
VALUES = 15


class Sheet:
    """Lines in the making, all at one width and in one palette.

    `air` says how plenty rows are: 1 sets titles apart from what is below them, 2 sections from
    each other. With `bare` secrets are told; `reveal` is the key for that. `payload` is the key
    that shows the raw input elsewhere, empty where it has to stand here. `seen` says that all of
    the request was on the screen.
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
        seen: bool = False,
    ) -> None:
        self.cells, self.colors, self.home_dir, self.air = cells, colors, home_dir, air
        self.how = Look(bare=True) if bare else COVERED
        self.reveal, self.payload, self.seen = reveal, payload, seen
        self.lines: list[Line] = []
        self.comments = range(0)

    @property
    def room(self) -> int:
        """The cells of a line between the margins."""
        return self.cells - INDENT - 1

    def line(self) -> Line:
        """A new line, added and indented."""
        line = Line(self.colors).to(INDENT)
        self.lines.append(line)
        return line

    def gap(self) -> None:
        """An empty line."""
        self.line()

    def section(self, name: str, aside: str = "") -> None:
        """A section's title, with what can be said about its size."""
        self.gap()
        if self.air > 1:
            self.gap()
        line = self.line().add(name, "dim")
        if aside:
            line.right(f"{aside} ", "dim")
        if self.air:
            self.gap()

    def rows(self, rows: Iterable[Row], column: int = INDENT, first: Line | None = None) -> None:
        """Rows of text from a column on, each on a line of its own; the first may be begun."""
        for row in rows:
            line = (first or self.line()).to(column)
            first = None
            for piece in row:
                piece.onto(line, underline=False)

    def fact(self, label: str, value: str, *, bold: bool = False) -> None:
        """A label and its value, wrapped; nothing without a value."""
        if not value:
            return
        for number, row in enumerate(plain(value, self.cells - VALUES - 1, self.how)):
            line = self.line().add(label if number == 0 else "", "dim").to(VALUES)
            for piece in row:
                line.add(piece.text, piece.ink, bold=bold, reverse=piece.hidden)

    def stated(self, label: str, rows: Iterable[Row]) -> None:
        """A label and rows of text beside it."""
        self.rows(rows, VALUES, self.line().add(label, "dim"))

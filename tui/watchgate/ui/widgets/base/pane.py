"""A pane that draws its own lines: every part of the console is built of panes.

It is drawn from values alone: a `Pane` asks its `draw` for lines and hands them to Textual's line
interface, so that nothing ever parses markup and a redraw costs what is on the screen.
"""

from __future__ import annotations

from typing import TypedDict, Unpack

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from watchgate.core.base.text import safe_text
from watchgate.ui.base.formats import cut, width
from watchgate.ui.base.theme import Palette, Token, palette


class Emphasis(TypedDict, total=False):
    """The ways in which a text stands out; `reverse` swaps ink and ground."""

    bold: bool
    underline: bool
    reverse: bool


class StyledLine:
    """A line in the making: texts from the left, texts from the right, one ground below both."""

    def __init__(self, colors: Palette, ground: Token = "bg") -> None:
        self.colors = colors
        self.ground: Token = ground
        self._left: list[Segment] = []
        self._right: list[Segment] = []
        self.left_cells = 0
        self.right_cells = 0

    def add(
        self, text: str, ink: Token = "fg", *, on: Token | None = None, **more: Unpack[Emphasis]
    ) -> StyledLine:
        """Adds a text to the left part, made safe to show; `on` is its ground, else the line's."""
        text = _safe(text)
        style = self.colors.style(ink, on or self.ground, **more)
        self._left.append(Segment(text, style))
        self.left_cells += width(text)
        return self

    def to(self, column: int) -> StyledLine:
        """Moves the left part on to a column with blanks, if it is not there yet."""
        return self.add(" " * (column - self.left_cells)) if column > self.left_cells else self

    def fit(self, text: str, cells: int, ink: Token = "fg", *, bold: bool = False) -> StyledLine:
        """Adds a text cut to `cells`, its dots in dim."""
        head, dots = cut(text, cells)
        self.add(head, ink, bold=bold)
        return self.add(dots, "dim") if dots else self

    def right(
        self, text: str, ink: Token = "fg", *, on: Token | None = None, **more: Unpack[Emphasis]
    ) -> StyledLine:
        """Adds a text to the right part, after those already there, as `add` does."""
        text = _safe(text)
        style = self.colors.style(ink, on or self.ground, **more)
        self._right.append(Segment(text, style))
        self.right_cells += width(text)
        return self

    def join(self, other: StyledLine) -> StyledLine:
        """Adds the left part of another line."""
        self._left += other._left
        self.left_cells += other.left_cells
        return self

    def strip(self, cells: int) -> Strip:
        """Renders the line at a width: the right part keeps its place, the left part is cropped."""
        blank = self.colors.style("fg", self.ground)
        room = max(0, cells - self.right_cells)
        left = Strip(self._left, self.left_cells)
        if self._right and self.left_cells > room:
            left = left.crop(0, max(0, room - 1))  # What was cut must not run into the right part.
        left = left.adjust_cell_length(room, blank)
        return Strip.join([left, Strip(self._right, self.right_cells)]).crop(0, cells)


def _safe(text: str) -> str:
    """Makes a text safe to show, whoever forgot to do so before it was cut."""
    return text if text.isprintable() else safe_text(text)


class Pane(Widget):
    """A widget that draws all of its lines at once, when something changed."""

    DEFAULT_CSS = "Pane { height: auto; width: 1fr; }"

    ground: Token = "bg"

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._drawn: tuple[Size, str, list[Strip]] | None = None

    @property
    def inks(self) -> Palette:
        """The palette of the theme in use."""
        return palette(self.app.theme)

    def line(self, ground: Token | None = None) -> StyledLine:
        """Returns a new line on this pane's ground."""
        return StyledLine(self.inks, ground or self.ground)

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        """Returns the lines to show in that much room; missing ones stay empty."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Draws again, and repaints the lines that came out different."""
        before, self._drawn = self._drawn, None
        if before is None or before[:2] != (self.size, self.app.theme):
            self.refresh()
            return
        after = self._strips()
        for y in range(max(len(before[2]), len(after))):
            if before[2][y : y + 1] != after[y : y + 1]:
                self.refresh(Region(0, y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        """Returns the line `y` of the pane."""
        strips = self._strips()
        if y < len(strips):
            return strips[y]
        return Strip.blank(self.size.width, self.inks.style("fg", self.ground))

    def _strips(self) -> list[Strip]:
        drawn = self._drawn
        if drawn is None or drawn[:2] != (self.size, self.app.theme):
            cells, rows = self.size
            strips = [line.strip(cells) for line in self.draw(cells, rows)[:rows]]
            drawn = self._drawn = (self.size, self.app.theme, strips)
        return drawn[2]

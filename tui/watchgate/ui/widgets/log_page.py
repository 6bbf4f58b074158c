"""Pages of text that scroll: the help with every key and mark, and the end of the core's log."""

from __future__ import annotations

from collections.abc import Sequence

from watchgate.core.text import safe_text
from watchgate.ui.widgets.pane import Line, Pane
from watchgate.ui.widgets.request.command_text import plain


class LogPage(Pane):
    """Lines, the newest at the bottom; it scrolls."""

    DEFAULT_CSS = "LogPage { height: 1fr; }"

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self._lines = [safe_text(line) for line in lines]
        self._up = 0

    def _wrapped(self, cells: int) -> list[str]:
        """Returns the lines as they fit, none of them cut."""
        return [
            "".join(piece.text for piece in row)
            for line in self._lines
            for row in plain(line, max(8, cells - 3))
        ]

    def move(self, lines: int) -> None:
        """Scrolls by so many lines."""
        highest = max(0, len(self._wrapped(self.size.width)) - self.size.height)
        self._up = min(max(0, self._up - lines), highest)
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        if not self._lines:
            return [self.line(), self.line().add("  The core's log is empty.", "dim")]
        lines = self._wrapped(cells)
        end = len(lines) - min(self._up, max(0, len(lines) - rows))
        return [self.line().add(f"  {text}") for text in lines[max(0, end - rows) : end]]

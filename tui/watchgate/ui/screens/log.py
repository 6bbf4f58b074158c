"""The log screen: what the core said before it was lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.widget import Widget

from watchgate.ui.keys.keymap import Where
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.moment import Moment
from watchgate.ui.screens.frame import Frame
from watchgate.ui.widgets.log_page import LogPage
from watchgate.ui.widgets.tabs import Part


class LogScreen(Frame):
    """Above the monitor, with the lines that were read when it opened."""

    where: Where = "log"

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self.text = LogPage(lines)

    def body(self) -> Iterable[Widget]:
        """The lines."""
        yield self.text

    def aside(self, moment: Moment) -> tuple[Part, ...]:
        """Returns how it closes."""
        return ((f"log: {key_for('back')} closes it", "dim", False),)

    def move(self, lines: int) -> None:
        """Scroll the lines."""
        self.text.move(lines)

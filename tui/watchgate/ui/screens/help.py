"""The help screen: every key and mark on one page."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from watchgate.ui.keys.keymap import Keymap, Where
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.moment import Moment
from watchgate.ui.screens.frame import Frame
from watchgate.ui.widgets.help_page import HelpPage
from watchgate.ui.widgets.tabs import Part


class HelpScreen(Frame):
    """Above the monitor; the dock below it stays and `d` denies."""

    where: Where = "help"

    def __init__(self, keymap: Keymap, *, replay: bool = False) -> None:
        super().__init__()
        self.text = HelpPage(keymap, replay=replay)

    def body(self) -> Iterable[Widget]:
        """The page."""
        yield self.text

    def aside(self, moment: Moment) -> tuple[Part, ...]:
        """Returns how it closes."""
        back, scroll = key_for("back"), f"{key_for('down')} {key_for('up')} scroll"
        words = f"help: {back} closes it" if moment.shape.tall else f"{scroll}, {back} closes"
        return ((words, "dim", False),)

    def move(self, lines: int) -> None:
        """Scroll the page."""
        self.text.move(lines)

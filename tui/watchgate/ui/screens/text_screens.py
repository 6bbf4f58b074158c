"""The pages of text: help, the list of commands, and the last lines of the core's log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.events import Key
from textual.widget import Widget

from watchgate.ui.keys.keymap import Context, Keymap, Where, again
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.screens.screen_frame import Frame
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.command_list import CommandList
from watchgate.ui.widgets.key_bars import Part
from watchgate.ui.widgets.text_pages import HelpPage, LogPage


class CommandScreen(Frame):
    """Every command with its key, to be found by its name."""

    where: Where = "commands"

    def __init__(self, keymap: Keymap, context: Context) -> None:
        super().__init__()
        self.list = CommandList(keymap, context)

    def body(self) -> Iterable[Widget]:
        """The list."""
        yield self.list

    def on_mount(self) -> None:
        self.list.focus()

    def catch(self, event: Key) -> bool:
        """Gives the list the keys that were read before it had the focus."""
        return self.list.post_message(again(event))

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Returns the hint with the key that closes the screen."""
        return (("commands: Esc leaves", "dim", False),)


class LogScreen(Frame):
    """Above the monitor, with the lines that were read when it opened."""

    where: Where = "log"

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self.text = LogPage(lines)

    def body(self) -> Iterable[Widget]:
        """The lines."""
        yield self.text

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Returns the hint with the key that closes the screen."""
        return ((f"log: {key_for('back')} closes it", "dim", False),)

    def move(self, lines: int) -> None:
        """Scrolls the lines."""
        self.text.move(lines)


class HelpScreen(Frame):
    """Above the monitor; the dock below it stays and `d` denies."""

    where: Where = "help"

    def __init__(self, keymap: Keymap, *, replay: bool = False) -> None:
        super().__init__()
        self.text = HelpPage(keymap, replay=replay)

    def body(self) -> Iterable[Widget]:
        """The page."""
        yield self.text

    def aside(self, moment: ViewModel) -> tuple[Part, ...]:
        """Returns the hint with the key that closes the screen."""
        back, scroll = key_for("back"), f"{key_for('down')} {key_for('up')} scroll"
        words = f"help: {back} closes it" if moment.shape.tall else f"{scroll}, {back} closes"
        return ((words, "dim", False),)

    def move(self, lines: int) -> None:
        """Scrolls the page."""
        self.text.move(lines)

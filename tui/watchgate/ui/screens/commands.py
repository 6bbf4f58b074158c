"""The command list as a screen; the dock stays below it."""

from __future__ import annotations

from collections.abc import Iterable

from textual.events import Key
from textual.widget import Widget

from watchgate.ui.keys.keymap import Context, Keymap, Where, again
from watchgate.ui.moment import Moment
from watchgate.ui.screens.frame import Frame
from watchgate.ui.widgets.command_list import CommandList
from watchgate.ui.widgets.tabs import Part


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
        """Give the list the keys that were read before it had the focus."""
        return self.list.post_message(again(event))

    def aside(self, moment: Moment) -> tuple[Part, ...]:
        """Returns how it closes."""
        return (("commands: Esc leaves", "dim", False),)

"""The prompts that read a line about one request: a reply to a denial, or answers to questions."""

from __future__ import annotations

from textual import events
from textual.message import Message

from watchgate.core.views import PendingView
from watchgate.ui.deciding.arming import Commit
from watchgate.ui.keys.keymap import name_of
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompts.edit_line import EditLine
from watchgate.ui.widgets.prompts.prompt import GONE, KeyPassed, Prompt


class TypedPrompt(Prompt):
    """Reads a line; Enter takes it, Esc leaves everything as it was.

    A request that was settled meanwhile takes nothing any more. `_notice` stands beside the line
    until the next key.
    """

    class Left(Message):
        """Nothing was decided."""

    def __init__(self, commit: Commit, view: PendingView) -> None:
        super().__init__()
        self.request = view.id
        self._commit = commit
        self._view = view
        self._line = EditLine()
        self._notice = ""
        self._gone = False
        self._over = False

    def finish(self, message: Message) -> None:
        """Reports how it ended; keys that are read before it is gone are passed on."""
        self._over = True
        self.post_message(message)

    def settled(self) -> None:
        if not self._gone:
            self._gone = True
            self.redraw()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self._over:
            self.post_message(KeyPassed(event))
            return
        name = name_of(event)
        self._notice = ""
        if name in ("escape", "ctrl+c"):
            self.finish(self.Left())
        elif name == "enter":
            if not self._gone:
                self.enter()
        elif (edited := self._line.key(name)) is not None:
            self._line = edited
        elif event.is_printable and event.character:
            self._line = self._line.typed(event.character)
        self.redraw()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._line = self._line.typed(event.text)
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        if self._gone:
            return [self.line().add("  ").fit(GONE, cells - 3, bold=True)]
        return self.draw_open(cells, rows)

    def enter(self) -> None:
        """Takes the line that was typed."""
        raise NotImplementedError

    def draw_open(self, cells: int, rows: int) -> list[Line]:
        """Returns the lines to show while the request is open."""
        raise NotImplementedError

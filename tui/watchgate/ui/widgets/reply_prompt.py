"""The reply that goes to the model with a denial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message

from watchgate.core.views import PendingView
from watchgate.ui.arming import Commit
from watchgate.ui.consequences import title
from watchgate.ui.formats import short_id
from watchgate.ui.keymap import Hint, name_of
from watchgate.ui.widgets.edit_line import EditLine
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompt import GONE, Prompt, hint


class ReplyPrompt(Prompt):
    """Reads one line; Enter after it denies with it, Esc leaves everything as it was."""

    DEFAULT_CSS = "ReplyPrompt { height: 1; }"

    @dataclass
    class Replied(Message):
        """Deny this request, and tell the model this."""

        commit: Commit
        view: PendingView
        text: str

    class Left(Message):
        """Nothing was decided."""

    def __init__(self, commit: Commit, view: PendingView) -> None:
        super().__init__()
        self.request = view.id
        self._commit = commit
        self._view = view
        self._line = EditLine()
        self._said = ""
        self._gone = False

    @property
    def hints(self) -> Sequence[Hint]:
        return (hint("Enter", "deny with it"), hint("Esc", "not now"))

    def settled(self) -> None:
        if not self._gone:
            self._gone = True
            self.redraw()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        name = name_of(event)
        self._said = ""
        if name in ("escape", "ctrl+c"):
            self.post_message(self.Left())
        elif name == "enter":
            self._send()
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
        line = self.line().add(f"  deny {short_id(self._view.id)}, tell ", "dim")
        line.add(f"{title(self._view.agent)}: ")
        if self._gone:
            return [self.line().add("  ").fit(GONE, cells - 3, bold=True)]
        if self._said:
            line.right(f"{self._said} ", bold=True)
        self._line.onto(line, max(8, cells - line.left_cells - line.right_cells - 2))
        return [line]

    def _send(self) -> None:
        text = self._line.text.strip()
        if self._gone:
            return
        if text:
            self.post_message(self.Replied(self._commit, self._view, text))
        else:
            self._said = "nothing typed yet; d denies without a reply"

"""The line that asks for a touch of the security key."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message

from watchgate.link.touching import TOUCH
from watchgate.ui.keys.keymap import Hint, name_of
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompts.explained import ExplainedPrompt
from watchgate.ui.widgets.prompts.prompt import hint


class TouchPrompt(ExplainedPrompt):
    """Stands until the key was touched; Esc leaves all as it was."""

    class Left(Message):
        """The operator does not touch it."""

    @property
    def hints(self) -> Sequence[Hint]:
        return (hint("Esc", "not now"),)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if name_of(event) in ("escape", "ctrl+c"):
            self.post_message(self.Left())

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    def draw_first(self, cells: int) -> Line:
        return self.line().add(f"  unlock this terminal: {TOUCH}", bold=True)

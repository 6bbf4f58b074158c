"""The prompts that only a typed word answers, so that nothing grave is done by a slip."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message

from watchgate.ui.keys.keymap import Hint, name_of
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompts.prompt import Prompt, hint


class WordPrompt(Prompt):
    """One line: what would happen, and the word to type; Enter after it answers, Esc leaves."""

    DEFAULT_CSS = "WordPrompt { height: 1; }"

    class Answered(Message):
        """The prompt is over; `yes` when the word was typed and confirmed."""

        def __init__(self, *, yes: bool) -> None:
            super().__init__()
            self.yes = yes

    def __init__(self, word: str, meaning: str) -> None:
        super().__init__()
        self._word = word
        self._meaning = meaning
        self._typed = ""

    @property
    def hints(self) -> Sequence[Hint]:
        return (hint(f"{self._word} Enter", "do it"), hint("Esc", "not now"))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        name = name_of(event)
        if name in ("escape", "ctrl+c"):
            self.post_message(self.Answered(yes=False))
        elif name == "enter" and self._typed == self._word:
            self.post_message(self.Answered(yes=True))
        elif name == "backspace":
            self._typed = self._typed[:-1]
        elif event.is_printable and event.character:
            self._typed = (self._typed + event.character)[: len(self._word)]
        self.redraw()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    def draw(self, cells: int, rows: int) -> list[Line]:
        ask = self.line().add("type ", "dim").add(self._word, bold=True).add(" and Enter: ", "dim")
        ask.add(self._typed, bold=True).add(" ", "bg", on="accent")
        room = cells - ask.left_cells - len(self._word) - 5
        return [self.line().add("  ").fit(self._meaning, room).add("  ").join(ask)]

"""The prompts that read a line about one request: a reply to a denial, or answers to questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from watchgate.core.views import PendingView
from watchgate.ui.deciding.arming import Commit
from watchgate.ui.deciding.consequences import title
from watchgate.ui.formats import short_id
from watchgate.ui.keys.keymap import Hint
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompts.prompt import hint
from watchgate.ui.widgets.prompts.typed_prompt import TypedPrompt


class ReplyPrompt(TypedPrompt):
    """Reads one line; Enter after it denies with it, Esc leaves everything as it was."""

    DEFAULT_CSS = "ReplyPrompt { height: 1; }"
    reads_ahead = True

    @dataclass
    class Replied(Message):
        """A denial of this request with a reply to the model."""

        commit: Commit
        view: PendingView
        text: str

    @property
    def hints(self) -> Sequence[Hint]:
        return (hint("Enter", "deny with it"), hint("Esc", "not now"))

    def draw_open(self, cells: int, rows: int) -> list[Line]:
        line = self.line().add(f"  deny {short_id(self._view.id)}, tell ", "dim")
        line.add(f"{title(self._view.agent)}: ")
        if self._notice:
            line.right(f"{self._notice} ", bold=True)
        self._line.onto(line, max(8, cells - line.left_cells - line.right_cells - 2))
        return [line]

    def enter(self) -> None:
        text = self._line.text.strip()
        if text:
            self.finish(self.Replied(self._commit, self._view, text))
        else:
            self._notice = f"nothing typed yet; Esc, then {key_for('deny')} denies without a reply"

"""The prompts that unlock this terminal: by a PIN, by a code, or by touching the security key."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.message import Message

from watchgate.ui.keys.keymap import Hint, name_of
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompts.edit_line import EditLine
from watchgate.ui.widgets.prompts.explained import ExplainedPrompt
from watchgate.ui.widgets.prompts.prompt import hint

MASK = "*"
FREE = "denying needs none"
OR_KEY = "Enter alone: security key"


class ProofPrompt(ExplainedPrompt):
    """Reads a line, as stars where it is `masked`; Enter sends it, Esc leaves all as it was.

    It stays open until the core accepts what was typed, so that it can show what is wrong.
    Where there is a `key`, Enter alone asks for that instead. `shows_request` returns whether
    a request is shown, which can be denied once this is left: letters belong to what is typed.
    """

    class Typed(Message):
        """Something was typed; it is not shown, so that no log of messages has it."""

        def __init__(self, text: str, *, masked: bool) -> None:
            super().__init__()
            self.text = text
            self.masked = masked

        def __repr__(self) -> str:
            return f"Typed({len(self.text)} characters)"

    class Left(Message):
        """Nothing was typed."""

    def __init__(
        self,
        label: str,
        why: str,
        shows_request: Callable[[], bool],
        *,
        masked: bool,
        key: bool = False,
    ) -> None:
        """Asks for a proof.

        Args:
            label: What is asked for.
            why: The reason why the terminal is locked, or empty.
            shows_request: Returns whether a request is shown.
            masked: Whether the line is drawn as stars.
            key: Whether Enter alone asks for a security key.
        """
        super().__init__(why)
        self._shows_request = shows_request
        self._key = key
        self._label = label
        self._masked = masked
        self._line = EditLine()
        self._notice = ""
        self._sent = False

    @property
    def hints(self) -> Sequence[Hint]:
        then = f", then {key_for('deny')} denies" if self._shows_request() else ""
        return (hint("Enter", "unlock"), hint("Esc", f"not now{then}"))

    def refused(self, why: str) -> None:
        """Shows why what was typed is not taken, and reads again."""
        self._line, self._notice, self._sent = EditLine(), why, False
        self.redraw()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        name = name_of(event)
        if name in ("escape", "ctrl+c"):
            self.post_message(self.Left())
        elif self._sent:
            return
        elif name == "enter":
            if self._line.text or self._key:
                self._sent, self._notice = True, "asking the core"
                self.post_message(self.Typed(self._line.text, masked=self._masked))
        else:
            self._notice = ""
            if (edited := self._line.key(name)) is not None:
                self._line = edited
            elif event.is_printable and event.character:
                self._line = self._line.typed(event.character)
        self.redraw()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        if not self._sent:
            self._line = self._line.typed(event.text.strip())
            self.redraw()

    def draw_first(self, cells: int) -> Line:
        line = self.line().add(f"  {self._label}: ", bold=True)
        notice = self._notice or (OR_KEY if self._key else FREE if self._masked else "")
        room = cells - line.left_cells - 2
        if notice and len(notice) + 12 <= room:
            line.right(f"{notice} ", "fg" if self._notice else "dim", bold=bool(self._notice))
            room -= len(notice) + 2
        text = MASK * len(self._line.text) if self._masked else self._line.text
        EditLine(text, self._line.at).onto(line, max(8, room))
        return line

    def explanation(self, cells: int) -> Sequence[str]:
        """Returns why it is locked, or what is wrong where the first row has no room for it."""
        fits = cells - len(self._label) - 6 >= len(self._notice) + 12
        return self._sentences if fits else (self._notice,)

"""The code that a clear terminal has to confirm, where no PIN is set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.message import Message

from watchgate.ui.formats import person
from watchgate.ui.keys.keymap import Hint, name_of
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompts.explained import ExplainedPrompt
from watchgate.ui.widgets.prompts.prompt import hint

HALF = 3


class CodePrompt(ExplainedPrompt):
    """Shows six digits and where to type them, until `until_s` on the clock `now_s`; Esc leaves."""

    class Left(Message):
        """The operator does not wait for it."""

    def __init__(self, code: str, why: str, until_s: float, now_s: Callable[[], float]) -> None:
        self._digits = f"{code[:HALF]} {code[HALF:]}"
        where = (
            f"Type it in a clear terminal, as watchgate unlock {code}, or in its console: "
            "the command :unlock another. `watchgate pin set` there saves you this from now on."
        )
        super().__init__(f"{where} {why}".rstrip())
        self._until_s = until_s
        self._now_s = now_s

    @property
    def hints(self) -> Sequence[Hint]:
        return (hint("Esc", "not now"),)

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(1.0, self.redraw)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if name_of(event) in ("escape", "ctrl+c"):
            self.post_message(self.Left())

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    def draw_first(self, cells: int) -> Line:
        line = self.line().add("  unlock this terminal, its code: ", bold=True)
        left_s = self._until_s - self._now_s()
        if left_s <= 0:
            return line.add(f"it has run out, {key_for('unlock')} asks for a new one", bold=True)
        line.add(f" {self._digits} ", "bg", on="accent", bold=True)
        return line.right(f"for {person(left_s)} ", "dim")

"""The prompts that unlock this terminal: by a PIN, by a code, or by touching the security key."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.message import Message

from watchgate.ui.keys.keymap import Hint, name_of
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.prompts.explained import ExplainedPrompt
from watchgate.ui.widgets.prompts.prompt import LEAVES, hint


class AwaitingPrompt(ExplainedPrompt):
    """A prompt until this terminal is unlocked; Esc leaves it, every other key acts as usual.

    `shows_request` returns whether a request is shown, which can be denied meanwhile.
    """

    passes_keys = True
    reads_ahead = True

    class Left(Message):
        """The operator left it before it was done."""

    def __init__(self, shows_request: Callable[[], bool], *sentences: str) -> None:
        super().__init__(*sentences)
        self._shows_request = shows_request

    @property
    def hints(self) -> Sequence[Hint]:
        deny = (hint(key_for("deny"), "deny"),) if self._shows_request() else ()
        return (*deny, hint("Esc", "not now"))

    def on_key(self, event: events.Key) -> None:
        if name_of(event) in LEAVES:
            event.stop()
            event.prevent_default()
            self.post_message(self.Left())

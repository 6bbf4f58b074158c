"""The one prompt above the dock: opened by keys, answered by messages, and then it is gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING

from watchgate.core.views import PendingView
from watchgate.ui.arming import Ask, Commit
from watchgate.ui.consequences import after_allow, handback_label
from watchgate.ui.keymap import Hint
from watchgate.ui.pages import Pages

if TYPE_CHECKING:
    from watchgate.ui.widgets.prompt import Prompt


class Prompts:
    """The prompt that is open, and what its answer leads to; keys are timed by `now_s`.

    A prompt is imported when it is first asked for: most consoles never open one.
    """

    def __init__(self, pages: Pages, now_s: Callable[[], float] = time.monotonic) -> None:
        self._pages = pages
        self._now_s = now_s
        self._open: Prompt | None = None
        self._then: Callable[[], object] | None = None

    @property
    def hints(self) -> Sequence[Hint]:
        """What can be pressed in the open prompt; nothing while none is open."""
        return self._open.hints if self._open is not None else ()

    def open(self, prompt: Prompt) -> None:
        """Open a prompt in place of the one that may be open."""
        self.close()
        self._open = prompt
        place = self._pages.top.prompt
        place.call_later(place.mount, prompt)
        place.call_later(prompt.focus)

    def close(self) -> None:
        """Take the prompt away and give the keys back to the calls."""
        prompt, self._open = self._open, None
        if prompt is not None:
            prompt.call_later(prompt.remove)
            self._pages.monitor.table.focus()

    def keep(self, pending: Container[str]) -> None:
        """Tell the prompt when its request is no longer among the open ones.

        It is not closed: what is typed next would go to keys that decide.
        """
        prompt = self._open
        if prompt is not None and prompt.request and prompt.request not in pending:
            prompt.settled()

    def ask_word(self, word: str, meaning: str, then: Callable[[], object]) -> None:
        """Ask for a word to be typed, and do something once it was."""
        from watchgate.ui.widgets.word_prompt import WordPrompt

        self._then = then
        self.open(WordPrompt(word, meaning))

    def ask_yes(self, ask: Ask, view: PendingView, drawn_id: Callable[[], str | None]) -> None:
        """Ask for the typed yes that a critical request wants."""
        from watchgate.ui.widgets.yes_prompt import YesPrompt

        meaning = after_allow(view.data, view.agent)
        if ask.intent == "handback":
            meaning = handback_label(view.data, view.agent)
        self.open(YesPrompt(ask, meaning, drawn_id, self._now_s))

    def ask_reply(self, commit: Commit, view: PendingView) -> None:
        """Ask what the model is told with a denial."""
        from watchgate.ui.widgets.reply_prompt import ReplyPrompt

        self.open(ReplyPrompt(commit, view))

    def ask_answer(self, commit: Commit, view: PendingView) -> None:
        """Ask for the answers to an agent's questions."""
        from watchgate.ui.widgets.answer_prompt import AnswerPrompt

        self.open(AnswerPrompt(commit, view))

    def ask_filter(self, text: str) -> None:
        """Ask for the filter of the calls."""
        from watchgate.ui.widgets.filter_bar import FilterBar

        self.open(FilterBar(text))

    def word_answered(self, *, yes: bool) -> None:
        """The word prompt is over."""
        then, self._then = self._then, None
        self.close()
        if yes and then is not None:
            then()

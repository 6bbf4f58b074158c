"""The one prompt above the dock: opened by keys, answered by messages, and then it is gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from watchgate.core.model.views import PendingView
from watchgate.ui.approval.arming import Ask, Commit, Intent
from watchgate.ui.approval.consequences import after_allow, handback_label
from watchgate.ui.keys.jump_labels import Jump
from watchgate.ui.keys.keymap import Hint, again
from watchgate.ui.screens.pages import Pages
from watchgate.ui.source.record_source import CoreCall

if TYPE_CHECKING:
    from textual.events import Key

    from watchgate.core.filters.filter_completion import KnownValues
    from watchgate.ui.screens.screen_frame import Frame
    from watchgate.ui.widgets.prompts.prompt import Prompt


class Prompts:
    """The prompt that is open, and what its answer leads to; keys are timed by `now_s`.

    `keys` are those that allow and deny, which prompts that show what they allow read themselves.
    A prompt is imported when it is first asked for: most consoles never open one.
    """

    def __init__(
        self,
        pages: Pages,
        now_s: Callable[[], float] = time.monotonic,
        *,
        keys: Mapping[str, Intent],
        home: str = "",
    ) -> None:
        self._pages = pages
        self._now_s = now_s
        self._keys = keys
        self._home = home
        self._open: Prompt | None = None
        self._open_on: Frame = pages.monitor
        self._filters: list[str] = []
        self._then: Callable[[], object] | None = None

    @property
    def hints(self) -> Sequence[Hint]:
        """Returns the hints for the open prompt's keys; empty while none is open."""
        return self._open.hints if self._open is not None else ()

    @property
    def takes_keys(self) -> bool:
        """Returns whether a prompt is open that the keys belong to."""
        return self._open is not None and not self._open.passes_keys

    @property
    def awaits(self) -> bool:
        """Returns whether a prompt is open that only waits, and leaves the keys to the console."""
        return self._open is not None and self._open.passes_keys

    def open(self, prompt: Prompt) -> None:
        """Opens a prompt in place of the one that may be open."""
        self.close()
        self._open, self._open_on = prompt, self._pages.top
        place = self._open_on.prompt
        place.call_later(place.mount, prompt)
        place.call_later(prompt.focus)

    def has(self, prompt: Prompt) -> bool:
        """Returns whether this prompt is open."""
        return self._open is prompt

    def close(self) -> None:
        """Takes the prompt away and gives the keys back to the calls."""
        prompt, self._open = self._open, None
        if prompt is not None:
            prompt.call_later(prompt.remove)
            self._pages.monitor.regain()

    def shown(self) -> None:
        """Notifies the prompt that a new moment was drawn."""
        self._leave_behind()
        if self._open is not None:
            self._open.shown()

    def catch(self, event: Key) -> bool:
        """Gives the keys to an open prompt that has them not yet; returns whether there is one.

        This key is lost, but where the prompt only reads a text.
        """
        self._leave_behind()
        if self._open is None or self._open.has_focus or not self._open.wants(event):
            return False
        self._open.call_later(self._open.focus)
        if self._open.reads_ahead:
            self._open.post_message(again(event))
        return True

    def _leave_behind(self) -> None:
        """Closes a prompt that leaves the keys alone, where they have opened another page."""
        if self.awaits and self._open_on is not self._pages.top:
            self.close()

    def keep(self, pending: Mapping[str, PendingView]) -> None:
        """Passes the requests that are still open to the prompt."""
        if self._open is not None:
            self._open.keep(pending)

    def focused(self) -> None:
        """Notes that the terminal got the focus."""
        if self._open is not None:
            self._open.focused(self._now_s())

    def ask_word(self, word: str, meaning: str, then: Callable[[], object]) -> None:
        """Asks for a typed word, and calls `then` once it was typed."""
        from watchgate.ui.widgets.prompts.confirm_prompts import WordPrompt

        self._then = then
        self.open(WordPrompt(word, meaning))

    def ask_yes(self, ask: Ask, view: PendingView, drawn_id: Callable[[], str | None]) -> None:
        """Asks for the typed yes that a critical request takes."""
        from watchgate.ui.widgets.prompts.confirm_prompts import YesPrompt

        meaning = after_allow(view.data, view.agent)
        if ask.intent == "handback":
            meaning = handback_label(view.data, view.agent)
        deny = next(name for name, intent in self._keys.items() if intent == "deny")
        self.open(YesPrompt(ask, meaning, drawn_id, self._now_s, deny))

    def ask_reply(self, commit: Commit, view: PendingView) -> None:
        """Asks for the reply to the model that goes with a denial."""
        from watchgate.ui.widgets.prompts.typed_prompts import ReplyPrompt

        self.open(ReplyPrompt(commit, view))

    def ask_answer(self, commit: Commit, view: PendingView) -> None:
        """Asks for the answers to an agent's questions."""
        from watchgate.ui.widgets.prompts.typed_prompts import AnswerPrompt

        self.open(AnswerPrompt(commit, view))

    def ask_grant(self, view: PendingView, call: CoreCall, now_us: Callable[[], int]) -> None:
        """Asks how far an allow reaches, and shows the rule that it leaves."""
        from watchgate.ui.widgets.prompts.grant_prompt import GrantPrompt

        self.open(GrantPrompt(view, call, self._keys, self._now_s, now_us, self._home))

    def ask_edit(self, view: PendingView, call: CoreCall, *, bare: bool) -> None:
        """Opens the editor of a call, and shows what the core makes of the edit."""
        from watchgate.ui.widgets.prompts.edit_prompt import EditPrompt

        self.open(EditPrompt(view, call, self._keys, self._now_s, bare=bare))

    def ask_batch(self, views: Sequence[PendingView]) -> None:
        """Lists the requests that are to be allowed together."""
        from watchgate.ui.widgets.prompts.grant_prompt import BatchPrompt

        self.open(BatchPrompt(views, self._keys, self._now_s, self._home))

    def ask_jump(self, jumps: Callable[[], Sequence[Jump]]) -> None:
        """Shows a letter at each line that can be jumped to, and reads one."""
        from watchgate.ui.widgets.prompts.jump_prompt import JumpPrompt

        self.open(JumpPrompt(jumps))

    def ask_filter(
        self, text: str, known: KnownValues | None = None, now_us: Callable[[], int] | None = None
    ) -> None:
        """Asks for the filter of the list that is shown; `known` are the values to propose."""
        from watchgate.ui.widgets.prompts.filter_bar import FilterBar

        self.open(FilterBar(text, known, now_us, recent=self._filters))

    def word_answered(self, *, yes: bool) -> None:
        """Closes the word prompt, and calls what was waiting for a `yes`."""
        then, self._then = self._then, None
        self.close()
        if yes and then is not None:
            then()

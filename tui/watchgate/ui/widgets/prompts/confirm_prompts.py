"""The prompts that only a typed word answers, so that nothing grave is done by a slip."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message

from watchgate.ui.approval.arming import QUEUED_S, Ask, Commit, Explain
from watchgate.ui.approval.typed_yes import WORD, PromptClosed, TypedYes
from watchgate.ui.keys.keymap import Hint, name_of, read_at
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.prompts.prompt import GONE, Prompt, hint


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

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        ask = self.line().add("type ", "dim").add(self._word, bold=True).add(" and Enter: ", "dim")
        ask.add(self._typed, bold=True).add(" ", "bg", on="accent")
        room = cells - ask.left_cells - len(self._word) - 5
        return [self.line().add("  ").fit(self._meaning, room).add("  ").join(ask)]


_WHAT = {"allow": "allow once", "handback": "hand back", "allow_more": "allow more", "edit": "edit"}


class YesPrompt(Prompt):
    """Shows what was typed and what it leads to; keys go to `TypedYes`."""

    DEFAULT_CSS = "YesPrompt { height: 3; }"

    @dataclass
    class Decided(Message):
        """The word was typed (or `deny` pressed), and nothing followed it."""

        commit: Commit

    @dataclass
    class Left(Message):
        """Nothing was decided; `why` is the reason, empty where the operator left by themselves."""

        why: str = ""

    def __init__(
        self,
        ask: Ask,
        meaning: str,
        drawn_id: Callable[[], str | None],
        now_s: Callable[[], float] = time.monotonic,
        deny: str = "d",
    ) -> None:
        """Asks for the word.

        Args:
            ask: The request and what is asked about it.
            meaning: What a yes leads to, in words.
            drawn_id: Returns the request that the last frame showed.
            now_s: The clock that keys are timed with (seconds).
            deny: The key that denies.
        """
        super().__init__()
        self.request = ask.request
        self._yes = TypedYes(ask, deny)
        self._deny = deny
        self._meaning = meaning
        self._drawn_id = drawn_id
        self._now_s = now_s
        self._notice = ""
        self._gone = False

    @property
    def hints(self) -> Sequence[Hint]:
        does = _WHAT.get(self._yes.ask.intent, "allow")
        return (hint(WORD, does), hint("Esc", "not now"), hint(self._deny, "deny"))

    def settled(self) -> None:
        if not self._gone:
            self._gone, self._notice = True, GONE
            self.redraw()

    def focused(self, now_s: float) -> None:
        self._yes.focus(now_s)
        self.redraw()

    def on_mount(self) -> None:
        if self.app.size.height < 30:
            self.styles.height = 1

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        name = name_of(event)
        read_s = read_at(event, self._now_s())
        answer = self._yes.key("escape" if name == "ctrl+c" else name, read_s)
        if isinstance(answer, PromptClosed):
            self.post_message(self.Left())
            return
        if self._gone:
            return
        self._notice = answer.text if isinstance(answer, Explain) else ""
        self._wait()
        self.redraw()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        warning = self._yes.paste(self._now_s())
        self._notice = GONE if self._gone else warning.text
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        line = self.line().add(f"  {_WHAT.get(self._yes.ask.intent, 'allow')}: type ")
        line.add(WORD, bold=True).add("   ").add(f" {self._yes.typed}", on="bg", bold=True)
        line.add("_".ljust(len(WORD) + 2 - len(self._yes.typed)), "accent", on="bg", bold=True)
        line.add("   ")
        line.fit(
            self._notice or self._meaning, cells - line.left_cells - 1, bold=bool(self._notice)
        )
        return [self.line(), line] if rows > 1 else [line]

    def _wait(self) -> None:
        due = self._yes.next_due
        if due is not None:
            self.set_timer(max(QUEUED_S, due - self._now_s()), self._due)

    def _due(self) -> None:
        answer = self._yes.due(self._now_s(), self._drawn_id())
        if isinstance(answer, Commit):
            self.post_message(self.Decided(answer))
        elif isinstance(answer, Explain):
            self.post_message(self.Left(answer.text))
        else:
            self._wait()

"""The prompts that unlock this terminal: by a PIN, by a code, or by touching the security key."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.message import Message

from watchgate.link.touching import TOUCH
from watchgate.ui.base.formats import person
from watchgate.ui.keys.keymap import Hint, name_of
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_text import plain
from watchgate.ui.widgets.prompts.prompt import LEAVES, Prompt, hint
from watchgate.ui.widgets.prompts.text_editing import EditLine

AIRY_ROWS = 30
"""From so many rows of the screen on an empty row stands above and below."""

MAX_ROWS = 3
"""Rows of an explanation; `watchgate unlock` has longer ones."""


class ExplainedPrompt(Prompt):
    """The first line is what is asked; below it stands its `sentences`, dim, in a few rows.

    The most important comes first; a later sentence that does not fit whole is left out.
    """

    DEFAULT_CSS = "ExplainedPrompt { height: 2; }"

    def __init__(self, *sentences: str) -> None:
        super().__init__()
        self._sentences = tuple(each for each in sentences if each)

    def draw_first(self, cells: int) -> StyledLine:
        """Returns the line that asks."""
        raise NotImplementedError

    def explanation(self, cells: int) -> Sequence[str]:
        """Returns the sentences below it."""
        return self._sentences

    def on_mount(self) -> None:
        self._fit(self.app.size.width)

    def _fit(self, cells: int) -> None:
        airy = 2 if self.app.size.height >= AIRY_ROWS else 0
        rows = len(_rows(self._sentences, cells, MAX_ROWS))
        self.styles.height = max(1, min(1 + rows + airy, self.room))

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        explanation = self.explanation(cells)
        loud = explanation != self._sentences
        texts = _rows(explanation, cells, max(0, min(MAX_ROWS, rows - 1)))
        lines = [self.draw_first(cells), *(self._below(each, loud=loud) for each in texts)]
        airy = rows >= len(lines) + 1 and self.app.size.height >= AIRY_ROWS
        return [self.line(), *lines] if airy else lines

    def _below(self, text: str, *, loud: bool) -> StyledLine:
        return self.line().add(f"  {text}", "fg" if loud else "dim", bold=loud)


def _rows(sentences: Sequence[str], cells: int, row_limit: int) -> list[str]:
    """Returns the sentences that fit whole into so many rows, the first of them in any case."""
    room = max(8, cells - 4)
    text = ""
    for each in sentences:
        more = f"{text} {each}".lstrip()
        if not text or len(plain(more, room)) <= row_limit:
            text = more
    rows = plain(text, room)[:row_limit] if text else ()
    return ["".join(piece.text for piece in row) for row in rows]


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


CODE_HALF = 3


class CodePrompt(AwaitingPrompt):
    """Shows six digits and where to type them, until `until_s` on the clock `now_s`."""

    def __init__(
        self,
        code: str,
        why: str,
        until_s: float,
        now_s: Callable[[], float],
        shows_request: Callable[[], bool],
    ) -> None:
        """Shows a code.

        Args:
            code: Six digits.
            why: The reason why the terminal is locked, or empty.
            until_s: The end of the code on the clock `now_s` (seconds).
            now_s: Reads that clock.
            shows_request: Returns whether a request is shown.
        """
        self._digits = f"{code[:CODE_HALF]} {code[CODE_HALF:]}"
        where = (
            f"Type it in a clear terminal, as watchgate unlock {code}, or in its console: "
            "the command :unlock another."
        )
        locked = f"Locked: {why}." if why else ""
        saves = "`watchgate pin set` there saves you this from now on."
        super().__init__(shows_request, where, locked, saves)
        self._until_s = until_s
        self._now_s = now_s

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(1.0, self.redraw)

    def draw_first(self, cells: int) -> StyledLine:
        line = self.line().add("  unlock this terminal, its code: ", bold=True)
        left_s = self._until_s - self._now_s()
        if left_s <= 0:
            return line.add(f"it has run out, {key_for('unlock')} asks for a new one", bold=True)
        line.add(f" {self._digits} ", "bg", on="accent", bold=True)
        return line.right(f"for {person(left_s)} ", "dim")


class TouchPrompt(AwaitingPrompt):
    """A prompt until the security key was touched."""

    def draw_first(self, cells: int) -> StyledLine:
        return self.line().add(f"  unlock this terminal: {TOUCH}", bold=True)


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

    def draw_first(self, cells: int) -> StyledLine:
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
        """Returns the reason it is locked, or the fault where the first row lacks room for it."""
        fits = cells - len(self._label) - 6 >= len(self._notice) + 12
        return self._sentences if fits else (self._notice,)

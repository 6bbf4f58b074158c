"""The prompts that read a line about one request: a reply to a denial, or answers to questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message

from watchgate.core.base.text import safe_text
from watchgate.core.model.events import Question
from watchgate.core.model.questions import describe_choices, read_answer
from watchgate.core.model.views import PendingView
from watchgate.ui.approval.arming import Commit
from watchgate.ui.base.formats import short_id, width
from watchgate.ui.keys.keymap import Hint, name_of
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.source.agent_titles import title
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_text import Piece, Row, draw_row, question_rows
from watchgate.ui.widgets.prompts.prompt import GONE, KeyPassed, Prompt, hint
from watchgate.ui.widgets.prompts.text_editing import EditLine


class TypedPrompt(Prompt):
    """Reads a line; Enter takes it, Esc leaves everything as it was.

    A request that was settled meanwhile takes nothing any more. `_notice` stands beside the line
    until the next key.
    """

    class Left(Message):
        """Nothing was decided."""

    def __init__(self, commit: Commit, view: PendingView) -> None:
        super().__init__()
        self.request = view.id
        self._commit = commit
        self._view = view
        self._line = EditLine()
        self._notice = ""
        self._gone = False
        self._over = False

    def finish(self, message: Message) -> None:
        """Reports how it ended; keys that are read before it is gone are passed on."""
        self._over = True
        self.post_message(message)

    def settled(self) -> None:
        if not self._gone:
            self._gone = True
            self.redraw()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if self._over:
            self.post_message(KeyPassed(event))
            return
        name = name_of(event)
        self._notice = ""
        if name in ("escape", "ctrl+c"):
            self.finish(self.Left())
        elif name == "enter":
            if not self._gone:
                self.enter()
        elif (edited := self._line.key(name)) is not None:
            self._line = edited
        elif event.is_printable and event.character:
            self._line = self._line.typed(event.character)
        self.redraw()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._line = self._line.typed(event.text)
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        if self._gone:
            return [self.line().add("  ").fit(GONE, cells - 3, bold=True)]
        return self.draw_open(cells, rows)

    def enter(self) -> None:
        """Takes the line that was typed."""
        raise NotImplementedError

    def draw_open(self, cells: int, rows: int) -> list[StyledLine]:
        """Returns the lines to show while the request is open."""
        raise NotImplementedError


INDENT = 2
MAX_ROWS = 10
"""Rows of a question that are drawn here; the dock and its own page show all of it."""


class AnswerPrompt(TypedPrompt):
    """Reads one line for each question; Enter goes on, Esc leaves everything as it was."""

    DEFAULT_CSS = "AnswerPrompt { height: 2; }"

    @dataclass
    class Answered(Message):
        """The answers to a request: the labels or words for each question."""

        commit: Commit
        view: PendingView
        answers: tuple[tuple[str, ...], ...]

    def __init__(self, commit: Commit, view: PendingView) -> None:
        super().__init__(commit, view)
        self._given: tuple[tuple[str, ...], ...] = ()

    @property
    def hints(self) -> Sequence[Hint]:
        last = len(self._given) + 1 == len(self._view.data.questions)
        return (
            hint("Enter", "answer with it" if last else "next question"),
            hint("Esc", "not now"),
        )

    def on_mount(self) -> None:
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def draw_open(self, cells: int, rows: int) -> list[StyledLine]:
        lines = [self._asked(row, cells) for row in self._rows(cells)[: max(0, rows - 1)]]
        return [*lines, self._typed(cells)]

    @property
    def _question(self) -> Question:
        return self._view.data.questions[len(self._given)]

    def _rows(self, cells: int) -> list[Row]:
        """Returns the question with its choices; those that the typed text would choose are marked.

        A single question stands in the dock or on its own page already.
        """
        asked = len(self._view.data.questions)
        if asked == 1:
            return []
        count = f"question {len(self._given) + 1} of {asked}"
        chosen = self._would_be()
        rows = question_rows(self._question, cells - INDENT - 1, count=count, chosen=chosen)
        if len(rows) <= MAX_ROWS:
            return rows
        return [
            *rows[: MAX_ROWS - 1],
            (Piece(f"...   Esc, then {key_for('view')} shows all choices", "dim"),),
        ]

    def _would_be(self) -> tuple[str, ...]:
        try:
            return read_answer(self._question, self._line.text)
        except ValueError:
            return ()

    def _meaning(self) -> str:
        """Returns the answer that the typed line stands for, where it is not the line itself."""
        if not self._line.text:
            return describe_choices(self._question)
        chosen = self._would_be()
        means = chosen and chosen != (self._line.text.strip(),)
        return f"means {', '.join(map(safe_text, chosen))}" if means else ""

    def _asked(self, row: Row, cells: int) -> StyledLine:
        line = self.line().to(INDENT)
        draw_row(line, row, cells - INDENT - 1)
        return line

    def _typed(self, cells: int) -> StyledLine:
        line = self.line().add(f"  answer {short_id(self._view.id)}, tell ", "dim")
        line.add(f"{title(self._view.agent)}: ")
        remark = self._notice or self._meaning()
        if remark and width(remark) < cells - line.left_cells - 12:
            line.right(f"{remark} ", "fg" if self._notice else "dim", bold=bool(self._notice))
        elif self._notice:
            return self.line().add("  ").fit(self._notice, cells - 3, bold=True)
        self._line.onto(line, max(8, cells - line.left_cells - line.right_cells - 2))
        return line

    def enter(self) -> None:
        try:
            given = read_answer(self._question, self._line.text)
        except ValueError as fault:
            self._notice = str(fault)
            return
        answers = (*self._given, given)
        if len(answers) == len(self._view.data.questions):
            self.finish(self.Answered(self._commit, self._view, answers))
            return
        self._given, self._line = answers, EditLine()
        self._fit()

    def _fit(self) -> None:
        """Sets the height: the lines of the question as far as there is room, and the typed one."""
        lines = len(self._rows(self.app.size.width)) + 1
        self.styles.height = max(1, min(lines, self.room))


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

    def draw_open(self, cells: int, rows: int) -> list[StyledLine]:
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

"""The prompts that read a line about one request: a reply to a denial, or answers to questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.message import Message

from watchgate.core.events import Question
from watchgate.core.text import safe_text
from watchgate.core.typed_answers import how, read_answer
from watchgate.core.views import PendingView
from watchgate.ui.deciding.arming import Commit
from watchgate.ui.deciding.consequences import title
from watchgate.ui.formats import short_id, width
from watchgate.ui.keys.keymap import Hint
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.prompts.edit_line import EditLine
from watchgate.ui.widgets.prompts.prompt import hint
from watchgate.ui.widgets.prompts.typed_prompt import TypedPrompt
from watchgate.ui.widgets.request.command_text import Piece, Row, draw_row
from watchgate.ui.widgets.request.question_rows import question_rows

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

    def draw_open(self, cells: int, rows: int) -> list[Line]:
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
        """Returns what the typed line would be sent as, where that is not the line itself."""
        if not self._line.text:
            return how(self._question)
        chosen = self._would_be()
        means = chosen and chosen != (self._line.text.strip(),)
        return f"means {', '.join(map(safe_text, chosen))}" if means else ""

    def _asked(self, row: Row, cells: int) -> Line:
        line = self.line().to(INDENT)
        draw_row(line, row, cells - INDENT - 1)
        return line

    def _typed(self, cells: int) -> Line:
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

"""The smallest form, below 60 by 16: one line per open request; deny works, allow does not."""

from __future__ import annotations

from watchgate.core.base.text import safe_text
from watchgate.core.model.agent_state import WITHOUT_CORE
from watchgate.core.model.views import PendingView
from watchgate.ui.approval.consequences import seconds_left
from watchgate.ui.base.formats import covered, cut, cut_front, cut_name, person
from watchgate.ui.base.theme import RISK_GLYPH, Token
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.view_model.view_model import ViewModel
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.base.request_text import plain
from watchgate.ui.widgets.base.request_words import ASKED, subject_token

WORDS = 4
"""Lines reserved for what keys and silence do."""


class TinyQueue(Pane):
    """Open requests by deadline, the one that `d` denies under the cursor, and why `a` is dead."""

    DEFAULT_CSS = "TinyQueue { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._moment: ViewModel | None = None

    def show(self, moment: ViewModel) -> None:
        """Shows the requests of this moment."""
        self._moment = moment
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        moment = self._moment
        if moment is None:
            return []
        size = f"{moment.shape.columns} by {moment.shape.rows}"
        if moment.link.lost:
            meaning = f"{WITHOUT_CORE[moment.without_core]} until a core runs"
            if moment.context.off:
                meaning = "the gate is switched off: calls run by each agent's own rules"
            return self._alone("the core stopped answering", meaning, cells)
        if not moment.pending:
            return self._alone(
                "nothing pending", f"calls show from 60 by 16 cells, now {size}", cells
            )
        first = max(0, moment.index - max(1, rows - WORDS - 1) + 1)
        shown = moment.pending[first : first + max(1, rows - WORDS - 1)]
        lines = [self._request(view, moment, cells) for view in shown]
        return [*lines, self.line(), *self._words(moment, size, cells)]

    def _alone(self, title: str, meaning: str, cells: int) -> list[StyledLine]:
        return [self.line(), *self._text(title, cells, bold=True), *self._text(meaning, cells)]

    def _text(
        self, text: str, cells: int, ink: Token = "dim", *, bold: bool = False
    ) -> list[StyledLine]:
        rows = plain(text, max(8, cells - 3))
        ink = "fg" if bold else ink
        return [
            self.line().add("  " + "".join(piece.text for piece in row), ink, bold=bold)
            for row in rows
        ]

    def _request(self, view: PendingView, moment: ViewModel, cells: int) -> StyledLine:
        chosen = moment.docked is not None and view.id == moment.docked.id
        line = self.line("sel" if chosen else "bg")
        line.add("> " if chosen else "  ", "accent", bold=True)
        data = view.data
        glyph = RISK_GLYPH.get(data.risk, "!!") if data.asks == "approval" else ASKED
        line.add(glyph, subject_token(data), bold=True).to(6)
        line.add(cut_name(safe_text(view.label), 8), bold=True).to(15)
        left = seconds_left(view.data, moment.now_us)
        ends = person(left) if left is not None else "-"
        room = cells - 15 - len(ends) - 3
        line.add(self._summary(view, room))
        return line.right(f"{ends} ", bold=True)

    def _summary(self, view: PendingView, room: int) -> str:
        text = covered(view.data.summary)
        if view.data.tool.cls in ("edit", "read"):
            return cut_front(text, room)
        head, dots = cut(text, room)
        return head + dots

    def _words(self, moment: ViewModel, size: str, cells: int) -> list[StyledLine]:
        all_denied = all(view.data.silence == "deny" for view in moment.pending)
        silence = "denied" if all_denied else "silence decides"
        allow = f"to allow you must see the whole request: 60 by 16 cells, now {size}"
        advice = f"{key_for('deny')} denies; {allow}"
        return [
            *self._text(f"{silence} in the time shown", cells, "fg"),
            *self._text(advice, cells),
        ]

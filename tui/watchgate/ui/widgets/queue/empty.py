"""The queue where its list is not shown: in one line, or with a text while it is empty."""

from __future__ import annotations

from typing import Literal

import msgspec

from watchgate.core.amounts import count
from watchgate.core.as_asked import line_of
from watchgate.core.call_endings import ENDINGS
from watchgate.core.text import safe_text
from watchgate.core.views import Settled, Totals
from watchgate.ui.covered import covered
from watchgate.ui.formats import ago, person
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.overview import day_words
from watchgate.ui.widgets.pane import Line, Pane
from watchgate.ui.widgets.queue.words import outcome
from watchgate.ui.widgets.request.command_text import Row, plain

Kind = Literal["connecting", "no-core", "nothing", "watching", "off"]

_TITLES: dict[Kind, tuple[str, str]] = {
    "connecting": ("Attaching to the core.", "Nothing is shown before its first picture."),
    "no-core": ("No core answers.", "What that means for agents is told below."),
    "nothing": (
        "Nothing waits for you.",
        "What the gate holds appears here, and is denied if nobody answers.",
    ),
    "watching": (
        "Nothing waits for you.",
        "The profile watch holds no call: all are recorded, none is asked about.",
    ),
    "off": ("Nothing waits for you.", "The gate is switched off, so no call is held."),
}
_VALUES = 15
_LONGEST = 400
AIRY_FROM = 18


class EmptyView(msgspec.Struct, frozen=True, kw_only=True):
    """The reason why nothing is shown, the request settled last, and today's totals."""

    kind: Kind = "connecting"
    last: Settled | None = None
    ago_min: int = 0
    totals: Totals = Totals()


class QueueEmpty(Pane):
    """The pane of an empty queue, the usual state: all is well, in few words."""

    DEFAULT_CSS = "QueueEmpty { height: 1fr; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._view = EmptyView()

    def show(self, view: EmptyView) -> None:
        """Shows this state."""
        if view != self._view:
            self._view = view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        view, airy = self._view, rows >= AIRY_FROM
        title, meaning = _TITLES[view.kind]
        blank = [self.line()]
        lines = [*([] if airy else blank), self.line().to(2).add(title, bold=True)]
        lines += blank if airy else []
        lines += [self._meaning(row) for row in plain(meaning, cells - 3)]
        if view.kind in ("connecting", "no-core"):
            return lines
        lines += [*blank, *(blank if airy else [])]
        lines += [*self._last(cells), self._today(view.totals, cells)]
        lines += [*blank, *(blank if airy else [])]
        keys = (
            self.line()
            .to(2)
            .add(key_for("monitor"), "accent", bold=True)
            .add(" shows the live calls   ")
        )
        return [
            *lines,
            keys.add(key_for("history"), "accent", bold=True).add(" every call that was recorded"),
        ]

    def _meaning(self, row: Row) -> Line:
        return self.line().to(2).add("".join(piece.text for piece in row), "dim")

    def _last(self, cells: int) -> list[Line]:
        last = self._view.last
        first = self.line().to(2).add("last", "dim").to(_VALUES)
        if last is None:
            return [first.add("none was settled yet", "dim")]
        glyph = ENDINGS[last.word].glyph if last.word in ENDINGS else "?"
        first.add(f"{glyph} ", bold=True).add(safe_text(last.label[:40]), bold=True).add("  ")
        first.fit(covered(line_of(last)[:_LONGEST]), max(4, cells - first.left_cells - 1))
        ended = outcome(last, cells - _VALUES - 30)
        ending = f"{ended} after {person(last.waited_s)}, {ago(self._view.ago_min * 60)} ago"
        if not self._view.ago_min:
            ending = f"{ended} after {person(last.waited_s)}, just now"
        return [first, self.line().to(_VALUES).fit(ending, cells - _VALUES - 1, "dim")]

    def _today(self, totals: Totals, cells: int) -> Line:
        denied = totals.denied_by_operator + totals.denied_by_rule + totals.denied_other
        counts = [f"{count(totals.allowed_by_operator)} allowed", f"{count(denied)} denied"]
        counts += [f"{count(totals.denied_by_timeout)} without an answer"]
        counts += [f"{count(totals.handed_back)} handed back"]
        line = self.line().to(2).add(day_words(totals), "dim").to(_VALUES)
        return line.fit(", ".join(counts), cells - _VALUES - 1)

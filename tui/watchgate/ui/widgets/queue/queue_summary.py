"""The queue where its list is not shown: in one line, or with a text while it is empty."""

from __future__ import annotations

from typing import Literal

import msgspec

from watchgate.core.base.amounts import count
from watchgate.core.base.text import safe_text
from watchgate.core.model.outcomes import ENDINGS
from watchgate.core.model.views import PendingView, Settled, Totals
from watchgate.core.state.asked_call import line_of
from watchgate.ui.approval.consequences import seconds_left
from watchgate.ui.base.formats import ago, covered, cut_name, person, short_id
from watchgate.ui.base.theme import Token
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.view_model.overview import day_words
from watchgate.ui.widgets.base.pane import Pane, StyledLine
from watchgate.ui.widgets.base.request_text import Row, plain
from watchgate.ui.widgets.queue.queue_list import ending_words

_TOOL_CELLS = 12
_LABEL_CELLS = 16


class QueueHeadView(msgspec.Struct, frozen=True, kw_only=True):
    """The request's id, its `place` (from 1) among `count`, and the `next` one and its `left_s`.

    The request itself may be scrolled so far that nothing else names it. `marked` counts the marked
    ones.
    """

    request: str = ""
    place: int = 0
    count: int = 0
    next: PendingView | None = None
    left_s: int | None = None
    marked: int = 0
    stale: bool = False


class QueueHead(Pane):
    """The line for the whole queue where there is no room for the list."""

    DEFAULT_CSS = "QueueHead { height: 1; }"

    ground = "s1"

    def __init__(self) -> None:
        super().__init__()
        self._view = QueueHeadView()

    def show(self, view: QueueHeadView) -> None:
        """Shows this place in the queue."""
        if view != self._view:
            self._view = view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        view, line = self._view, self.line().to(2)
        if not view.count:
            return [line]
        loud: Token = "off" if view.stale else "fg"
        dim: Token = "off" if view.stale else "dim"
        line.add(f"{view.place} of {view.count}", loud, bold=not view.stale)
        line.add(f"  {short_id(view.request)}", dim)
        if view.marked:
            line.right(f"{view.marked} marked ", loud, bold=True)
        if view.next is None:
            return [line.add("   no other waits", dim)]
        asked = view.next
        line.add("   next ", dim).add(short_id(asked.id), dim).add(" ")
        line.fit(safe_text(asked.data.tool.name[:40]), _TOOL_CELLS, loud).add(" ")
        line.add(cut_name(safe_text(asked.label[:80]), _LABEL_CELLS), loud, bold=not view.stale)
        if view.left_s is not None and not view.stale:
            line.add(f" {person(view.left_s)}", bold=True)
        return [line]


def next_of(pending: tuple[PendingView, ...], index: int) -> PendingView | None:
    """Returns the request that Tab goes to; None where there is no other."""
    return pending[(index + 1) % len(pending)] if len(pending) > 1 else None


def seconds_left_of(view: PendingView | None, now_us: int) -> int | None:
    """Returns the whole seconds until silence decides a request, if that is known."""
    seconds = seconds_left(view.data, now_us) if view is not None else None
    return None if seconds is None else int(seconds)


QueueEmptyKind = Literal["connecting", "no-core", "nothing", "watching", "off"]

_TITLES: dict[QueueEmptyKind, tuple[str, str]] = {
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


class QueueEmptyView(msgspec.Struct, frozen=True, kw_only=True):
    """The reason why nothing is shown, the request settled last, and today's totals."""

    kind: QueueEmptyKind = "connecting"
    last: Settled | None = None
    ago_min: int = 0
    totals: Totals = Totals()


class QueueEmpty(Pane):
    """The pane of an empty queue, the usual state: all is well, in few words."""

    DEFAULT_CSS = "QueueEmpty { height: 1fr; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._view = QueueEmptyView()

    def show(self, view: QueueEmptyView) -> None:
        """Shows this state."""
        if view != self._view:
            self._view = view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
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

    def _meaning(self, row: Row) -> StyledLine:
        return self.line().to(2).add("".join(piece.text for piece in row), "dim")

    def _last(self, cells: int) -> list[StyledLine]:
        last = self._view.last
        first = self.line().to(2).add("last", "dim").to(_VALUES)
        if last is None:
            return [first.add("none was settled yet", "dim")]
        glyph = ENDINGS[last.word].glyph if last.word in ENDINGS else "?"
        first.add(f"{glyph} ", bold=True).add(safe_text(last.label[:40]), bold=True).add("  ")
        first.fit(covered(line_of(last)[:_LONGEST]), max(4, cells - first.left_cells - 1))
        ended = ending_words(last, cells - _VALUES - 30)
        ending = f"{ended} after {person(last.waited_s)}, {ago(self._view.ago_min * 60)} ago"
        if not self._view.ago_min:
            ending = f"{ended} after {person(last.waited_s)}, just now"
        return [first, self.line().to(_VALUES).fit(ending, cells - _VALUES - 1, "dim")]

    def _today(self, totals: Totals, cells: int) -> StyledLine:
        denied = totals.denied_by_operator + totals.denied_by_rule + totals.denied_other
        counts = [f"{count(totals.allowed_by_operator)} allowed", f"{count(denied)} denied"]
        counts += [f"{count(totals.denied_by_timeout)} without an answer"]
        counts += [f"{count(totals.handed_back)} handed back"]
        line = self.line().to(2).add(day_words(totals), "dim").to(_VALUES)
        return line.fit(", ".join(counts), cells - _VALUES - 1)

"""The queue where its list is not shown: in one line, or with a text while it is empty."""

from __future__ import annotations

import msgspec

from watchgate.core.text import safe_text
from watchgate.core.views import PendingView
from watchgate.ui.deciding.consequences import seconds_left
from watchgate.ui.formats import cut_name, person, short_id
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.pane import Line, Pane

_TOOL_CELLS = 12
_LABEL_CELLS = 16


class HeadView(msgspec.Struct, frozen=True, kw_only=True):
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
        self._view = HeadView()

    def show(self, view: HeadView) -> None:
        """Shows this place in the queue."""
        if view != self._view:
            self._view = view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
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


def left(view: PendingView | None, now_us: int) -> int | None:
    """Returns the whole seconds until silence decides a request, if that is known."""
    seconds = seconds_left(view.data, now_us) if view is not None else None
    return None if seconds is None else int(seconds)

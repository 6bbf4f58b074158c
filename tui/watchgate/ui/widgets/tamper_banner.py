"""The banners with the alarm's bar: core lost, gate switched off, a file of the gate changed."""

from __future__ import annotations

import textwrap

from watchgate.core.amounts import plural
from watchgate.core.records import ATTEMPT, TamperedData
from watchgate.core.text import safe_text
from watchgate.ui.formats import cut
from watchgate.ui.tampering import mend
from watchgate.ui.widgets.pane import Line, Pane

MARGIN_CELLS = 3
WHAT_LINES = 2


class TamperBanner(Pane):
    """Three lines with the alarm's bar: what changed and what that means, then what mends it."""

    DEFAULT_CSS = "TamperBanner { height: 3; }"

    ground = "s1"

    def __init__(self) -> None:
        super().__init__()
        self._changes: tuple[TamperedData, ...] = ()

    def show(self, changes: tuple[TamperedData, ...]) -> None:
        """Shows these changes, the newest of them in full."""
        if changes != self._changes:
            self._changes = changes
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        if not self._changes:
            return []
        newest, room = self._changes[-1], cells - MARGIN_CELLS
        what = safe_text(newest.what)
        first, *rest = textwrap.wrap(what[:1].upper() + what[1:], room) or [""]
        description = [first, " ".join(rest)] if rest else [first]
        lines = [self._line().add("".join(cut(text, room)), bold=True) for text in description]
        last = self._line().add("mend  ", "dim")
        last.add(mend(newest, cells - last.left_cells - 1), "accent", bold=True)
        if len(self._changes) > 1:
            others = len(self._changes) - 1
            more = f"{plural(others, 'other file')} changed as well"
            if any(each.part == ATTEMPT for each in self._changes):
                more = plural(others, "more alarm")
            if last.left_cells + len(more) + MARGIN_CELLS <= cells:
                last.add(f"   {more}", "dim")
        blank = [self._line()] * (WHAT_LINES - len(lines))
        return [*lines, last, *blank]

    def _line(self) -> Line:
        return self.line().add(" ", on="alarm").add(" ")

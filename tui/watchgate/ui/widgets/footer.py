"""The two lines of keys: the screens at the top, and at the bottom what can be pressed now.

A hint is whole or absent, never cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from watchgate.core.text import safe_text
from watchgate.ui.keys.keymap import Hint
from watchgate.ui.widgets.pane import Line, Pane


class Footer(Pane):
    """One line of key hints; what would not act stands in parentheses."""

    DEFAULT_CSS = "Footer { height: 1; }"

    ground = "s2"

    def __init__(self) -> None:
        super().__init__()
        self._hints: Sequence[Hint] = ()
        self._note = ""

    def show(self, hints: Sequence[Hint], note: str = "") -> None:
        """Shows these hints, which fit; after a `note`, as many of them as it leaves room for."""
        if (hints, note) != (self._hints, self._note):
            self._hints, self._note = hints, note
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        line = self.line().add(" ")
        if self._note:
            line.fit(safe_text(self._note), cells - 2, bold=True)
        for hint in self._hints:
            gap = "  " if line.left_cells > 1 else ""
            if self._note and line.left_cells + len(gap) + hint.cells >= cells:
                break
            line.add(gap)
            if hint.enabled:
                line.add(hint.key, "accent", bold=True).add(f" {hint.label}")
            else:
                line.add(f"({hint.key} {hint.label})", "off")
        return [line]

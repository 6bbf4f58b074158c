"""The footer: what can be pressed now; a hint is whole or absent, never cut."""

from __future__ import annotations

from collections.abc import Sequence

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
        """Show these hints, which fit; a `note` takes their place where there is no dock for it."""
        if (hints, note) != (self._hints, self._note):
            self._hints, self._note = hints, note
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        if self._note:
            return [self.line().add(" ").fit(self._note, cells - 2)]
        line = self.line().add(" ")
        for number, hint in enumerate(self._hints):
            if number:
                line.add("  ")
            if hint.enabled:
                line.add(hint.key, "accent", bold=True).add(f" {hint.label}")
            else:
                line.add(f"({hint.key} {hint.label})", "off")
        return [line]

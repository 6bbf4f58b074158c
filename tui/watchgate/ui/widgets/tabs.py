"""The line of screens, and at its right what is special about the table at the moment."""

from __future__ import annotations

import msgspec

from watchgate.ui.formats import width
from watchgate.ui.palettes import Token
from watchgate.ui.widgets.pane import Line, Pane

SCREENS = ("Monitor", "Approvals", "Traces", "Costs", "History")
THERE = ("Monitor", "Traces")

Part = tuple[str, Token, bool]
"""A text, its ink, and whether it is bold."""


class TabsView(msgspec.Struct, frozen=True):
    """Which screen is active ("" for none), what stands at the right, and a chip before that."""

    active: str = "Monitor"
    aside: tuple[Part, ...] = ()
    chip: str = ""


class Tabs(Pane):
    """The five screens with their keys; those that are not there yet stand in `off`."""

    DEFAULT_CSS = "Tabs { height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self._view = TabsView()

    def show(self, view: TabsView) -> None:
        """Show this state of the line."""
        if view != self._view:
            self._view = view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        line = self.line().add(" ")
        for number, name in enumerate(SCREENS, start=1):
            if number > 1 and cells >= 100:
                line.add(" ")
            if name == self._view.active:
                line.add(f" {number} {name} ", "accent", on="sel", bold=True)
            elif name in THERE:
                line.add(f" {number}").add(f" {name} ", "dim")
            else:
                line.add(f" {number} {name} ", "off")
        if self._view.chip:
            line.right(f" {self._view.chip} ", "bg", on="accent", bold=True)
        apart = 2 if self._view.chip else 0
        aside = sum(width(text) for text, _, _ in self._view.aside)
        if aside and line.left_cells + line.right_cells + apart + aside + 2 <= cells:
            line.right(" " * apart)
            for text, ink, bold in self._view.aside:
                line.right(text, ink, bold=bold)
        return [line.right(" ")]

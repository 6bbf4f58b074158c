"""The two lines of keys: the screens at the top, and at the bottom what can be pressed now.

A hint is whole or absent, never cut.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.ui.base.formats import width
from watchgate.ui.base.theme import Token
from watchgate.ui.keys.keymap import Hint
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.widgets.base.pane import Pane, StyledLine


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

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
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


SCREENS = ("Monitor", "Approvals", "Traces", "Costs", "History")

WIDE_CELLS = 100

Part = tuple[str, Token, bool]
"""A text, its ink, and whether it is bold."""
Chip = tuple[str, str]
"""A word that must not be overlooked: whole, and in short."""


class TabsView(msgspec.Struct, frozen=True):
    """The active screen ("" for none), the texts at the right, and chips before those.

    The first chip is there whatever the room, another one where it fits, in short if need be.
    """

    active: str = "Monitor"
    aside: tuple[Part, ...] = ()
    chips: tuple[Chip, ...] = ()


class Tabs(Pane):
    """The five screens with their keys."""

    DEFAULT_CSS = "Tabs { height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self._view = TabsView()

    def show(self, view: TabsView) -> None:
        """Shows this state of the line."""
        if view != self._view:
            self._view = view
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[StyledLine]:
        line = self.line().add(" ")
        for number, name in enumerate(SCREENS):
            if number and cells >= WIDE_CELLS:
                line.add(" ")
            key = key_for(name.lower())
            if name == self._view.active:
                line.add(f" {key} {name} ", "accent", on="sel", bold=True)
            else:
                line.add(f" {key}").add(f" {name} ", "dim")
        chips = _fitting(self._view.chips, cells, cells - line.left_cells - 1)
        for number, chip in enumerate(chips):
            if number:
                line.right(" ")
            line.right(f" {chip} ", "bg", on="accent", bold=True)
        apart = 2 if chips else 0
        aside = sum(width(text) for text, _, _ in self._view.aside)
        if aside and line.left_cells + line.right_cells + apart + aside + 2 <= cells:
            line.right(" " * apart)
            for text, ink, bold in self._view.aside:
                line.right(text, ink, bold=bold)
        return [line.right(" ")]


def _fitting(chips: tuple[Chip, ...], cells: int, room: int) -> list[str]:
    """Returns the words of the chips: all, the last ones in short first, or the first alone.

    A line that is not wide has them in short.
    """
    if not chips:
        return []
    whole, short = [each for each, _ in chips], [each for _, each in chips]
    tried = [short]
    if cells >= WIDE_CELLS:
        tried = [whole[:n] + short[n:] for n in range(len(chips), -1, -1)]
    return next((each for each in tried if _cells(each) <= room), tried[0][:1])


def _cells(chips: list[str]) -> int:
    """Returns the room that the chips take, with a blank around each and between them."""
    return sum(width(each) + 3 for each in chips) - 1

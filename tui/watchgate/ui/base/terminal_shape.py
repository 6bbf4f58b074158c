"""The breakpoints of the console in columns and rows."""

from __future__ import annotations

import msgspec

SIDEBAR_FROM = 112
DETAIL_FROM = 140
BOTH_FROM = 160
TALL_FROM = 30
SMALLEST = (60, 16)


class TerminalShape(msgspec.Struct, frozen=True):
    """The parts that fit into a terminal of so many columns and rows."""

    columns: int
    rows: int

    @property
    def tiny(self) -> bool:
        """Returns whether a request cannot be shown well enough to be allowed."""
        return self.columns < SMALLEST[0] or self.rows < SMALLEST[1]

    @property
    def sidebar(self) -> bool:
        """Returns whether the sessions stand next to the table."""
        return SIDEBAR_FROM <= self.columns < DETAIL_FROM or self.columns >= BOTH_FROM

    @property
    def detail(self) -> bool:
        """Returns whether the call under the cursor is shown next to the table."""
        return self.columns >= DETAIL_FROM

    @property
    def tabs(self) -> bool:
        """Returns whether there is a line of screens."""
        return not self.tiny and self.columns >= 80

    @property
    def tall(self) -> bool:
        """Returns whether there is an empty row below the tabs and a dock of full height."""
        return self.rows >= TALL_FROM

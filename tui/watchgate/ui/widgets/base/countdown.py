"""The time that a request has left, as words and as a bar."""

from __future__ import annotations

import math

from watchgate.ui.base.theme import Token
from watchgate.ui.widgets.base.pane import StyledLine

BAR_LEFT = "━"


BAR_GONE = "─"


LAST_S = 10


def filled_cells(left_s: float, total_s: float, cells: int) -> int:
    """Returns the cells of the bar that are left; at least one while any time is."""
    if total_s <= 0 or left_s <= 0:
        return 0
    return min(cells, math.ceil(cells * left_s / total_s))


def is_hurried(left_s: float | None) -> bool:
    """Returns whether the last seconds run."""
    return left_s is not None and left_s <= LAST_S


def words_right(line: StyledLine, words: str, left_s: float | None) -> None:
    """Puts the words at the right end, reversed in the last seconds."""
    if is_hurried(left_s):
        line.right(words, line.ground, on="fg", bold=True)
    else:
        line.right(words, bold=True)


def words_left(line: StyledLine, words: str, left_s: float | None) -> None:
    """Puts the words into the left part, reversed in the last seconds."""
    line.add(words, bold=True, reverse=is_hurried(left_s))


def countdown_bar(left_s: float, total_s: float, cells: int) -> list[tuple[str, Token]]:
    """Returns the bar's two stretches, what is left and what is gone."""
    left = filled_cells(left_s, total_s, cells)
    return [(BAR_LEFT * left, "fg"), (BAR_GONE * (cells - left), "faint")]

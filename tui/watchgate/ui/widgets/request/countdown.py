"""A request in short: its chip, its reasons, its countdown, and the rest of its input."""

from __future__ import annotations

import math

from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.pane import Line

LEFT = "━"
GONE = "─"
LAST_S = 10


def filled(left_s: float, total_s: float, cells: int) -> int:
    """Returns the cells of the bar that are left; at least one while any time is."""
    if total_s <= 0 or left_s <= 0:
        return 0
    return min(cells, math.ceil(cells * left_s / total_s))


def hurried(left_s: float | None) -> bool:
    """Returns whether the last seconds run."""
    return left_s is not None and left_s <= LAST_S


def words_right(line: Line, words: str, left_s: float | None) -> None:
    """Puts the words at the right end, reversed in the last seconds."""
    if hurried(left_s):
        line.right(words, line.ground, on="fg", bold=True)
    else:
        line.right(words, bold=True)


def words_left(line: Line, words: str, left_s: float | None) -> None:
    """Puts the words into the left part, reversed in the last seconds."""
    line.add(words, bold=True, reverse=hurried(left_s))


def bar(left_s: float, total_s: float, cells: int) -> list[tuple[str, Token]]:
    """Returns the bar's two stretches, what is left and what is gone."""
    left = filled(left_s, total_s, cells)
    return [(LEFT * left, "fg"), (GONE * (cells - left), "faint")]

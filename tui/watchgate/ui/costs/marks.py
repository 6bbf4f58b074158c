"""The mark of a cost's source, as a letter and as a word: the agent's own, or by prices."""

from __future__ import annotations

from typing import Final

from watchgate.core.ledger.counted import Source
from watchgate.core.usage.session import SessionUsage

AT_LEAST: Final = "+?"
"""Behind a figure, where there is no room to say that it is a lower bound."""

LETTERS: Final[dict[Source, str]] = {"reported": "r", "computed": "c", "unknown": ""}
WORDS: Final[dict[Source, str]] = {"reported": "reported", "computed": "computed", "unknown": ""}
LEGEND: Final = (
    ("$1.12 r", "as the agent reports it"),
    ("$0.41 c", "computed: tokens by list prices"),
    ("$0.31+?", "at least that"),
)
"""Figures as they are written, and what they mean."""
BRIEF: Final = ("r reported  c computed  +? at least", "r reported  c computed")
"""What stands behind figures, in one line beside them."""


def mark(source: Source, *, is_lower_bound: bool = False, word: bool = False) -> str:
    """Returns what stands behind a figure; the whole `word` of it where there is room."""
    text = (WORDS if word else LETTERS)[source]
    gap = " " if word and text else ""
    return f"{text}{gap}{AT_LEAST}" if is_lower_bound else text


def of_session(used: SessionUsage) -> Source:
    """Returns the source of the figures of a session's turns, sub-agents and calls."""
    return used.counted.source if used.counted is not None else used.source


def of_parts(used: SessionUsage, *, is_lower_bound: bool = False) -> str:
    """Returns what stands behind the figures of a session's turns and sub-agents."""
    return mark(of_session(used), is_lower_bound=is_lower_bound)


def of_both(*, reported: bool, computed: bool) -> str:
    """Marks a sum of several sessions' figures: `rc` where some are of each kind."""
    return "r" * reported + "c" * computed

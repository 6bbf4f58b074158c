"""Words of a call's line on screen that none of its records holds."""

from __future__ import annotations

import re
from typing import Final

from watchgate.core.filter_keys import STATES
from watchgate.core.needles import finder

_PHRASES: Final = (
    *STATES,
    *("answered", "interrupted", "you", "an operator", "nobody", "twice", "yes"),
    *("no console", "no journal", "no core", "no gate", "a failure", "a pause", "a grant"),
    *("agent gone", "the gate", "a rule"),
)
_BEFORE_A_NAME: Final = re.compile(r"(in|rule|nobody)(?![^\W_])", re.IGNORECASE)
_ACROSS: Final = re.compile(r",|\s\s|\A[0-9:\s]*\Z")
"""Text between two words of different records, and the length of a wait."""


def may_be_derived(needle: str) -> bool:
    """Returns whether a text could be found in such words, or across two texts."""
    trimmed = needle.strip(" ")  # blanks stand before such words and behind them
    if _ACROSS.search(needle) or _BEFORE_A_NAME.match(trimmed):
        return True
    is_found = finder(trimmed)
    return any(map(is_found, _PHRASES))

"""The words of a call's line that none of its records holds: the screen's own for its end."""

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
"""What stands between two words of different records, and how long somebody waited."""


def may_be_derived(needle: str) -> bool:
    """Whether a text that is looked for could be found in such words, or across two texts."""
    told = needle.strip(" ")  # blanks stand before such words and behind them
    if _ACROSS.search(needle) or _BEFORE_A_NAME.match(told):
        return True
    found = finder(told)
    return any(map(found, _PHRASES))

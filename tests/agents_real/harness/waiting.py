"""Bounded waiting for a state that another process brings about."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LIMIT_S = 60.0
PAUSE_S = 0.05


def eventually(probe: Callable[[], T], what: str, limit_s: float = LIMIT_S) -> T:
    """The first true value of `probe`; fails the test naming `what` when the limit has passed."""
    end = time.monotonic() + limit_s
    while not (value := probe()):
        if time.monotonic() > end:
            raise AssertionError(f"still waiting after {limit_s:g} s for {what}")
        time.sleep(PAUSE_S)
    return value

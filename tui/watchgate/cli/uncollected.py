"""A stretch of a command that makes much, keeps all of it, and leaves no cycles behind."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Nothing is searched for cycles while the block runs, nor what it made ever after.

    Each search walks through all that was kept so far, which grows with every file; what is dropped
    without being in a cycle is freed at once all the same, so that memory does not grow by it.
    """
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if on:
            gc.enable()

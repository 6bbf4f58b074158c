"""The progress of a command that takes long, on the terminal behind stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_CLEARED = "\r\x1b[K"


@contextmanager
def progress(what: str) -> Iterator[Callable[[int], None]]:
    """Shows a count of `what` while the block runs; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _count: None
        return

    def show(count: int) -> None:
        print(f"{_CLEARED}{count:,} {what}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print(_CLEARED, end="", file=sys.stderr, flush=True)

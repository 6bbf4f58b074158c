"""A throw-away home, work folder and set of Watchgate directories for one test."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from watchgate.service.crashtest.place import Place

_ATTEMPTS: Final = 20
_PAUSE_S: Final = 0.1


class ThrowawayError(Exception):
    """A place that cannot be made or removed; the text says which, and why."""


@contextmanager
def throwaway() -> Iterator[Place]:
    """Yields a place for as long as the block runs; raises `ThrowawayError`."""
    try:
        # A short name: the path of a socket below it is limited.
        place = Place(Path(tempfile.mkdtemp(prefix="wg-crash-")).resolve())
    except OSError as fault:
        raise ThrowawayError(f"no throw-away folder can be made: {fault}") from None
    try:
        place.make()
        yield place
    finally:
        _remove(place.top)


def _remove(top: Path) -> None:
    """Removes all of it, also while a process that is just ending still writes."""
    for _ in range(_ATTEMPTS):
        shutil.rmtree(top, ignore_errors=True)
        if not top.exists():
            return
        time.sleep(_PAUSE_S)
    raise ThrowawayError(f"{top} could not be removed: end what still writes there, and remove it")

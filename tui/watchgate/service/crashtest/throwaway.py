"""A throw-away home, work folder and set of Watchgate directories for one test."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec


class ThrowawayPlace(msgspec.Struct, frozen=True):
    """The folder of one test; `top` is short, as the path of a socket has to be."""

    top: Path

    @property
    def home(self) -> Path:
        """Returns the user's home directory."""
        return self.top / "home"

    @property
    def work(self) -> Path:
        """Returns the directory that the agent works in."""
        return self.top / "work"

    @property
    def scratch(self) -> Path:
        """Returns the temporary directory."""
        return self.top / "tmp"

    @property
    def runtime(self) -> Path:
        """Returns Watchgate's runtime directory."""
        return self.top / "run"

    @property
    def state(self) -> Path:
        """Returns Watchgate's state directory."""
        return self.top / "state"

    @property
    def config(self) -> Path:
        """Returns Watchgate's configuration file."""
        return self.top / "config" / "config.toml"

    def make(self) -> None:
        """Makes the directories that are there before any program has run."""
        for directory in (self.home, self.work, self.scratch):
            directory.mkdir()

    def write(self, file: Path, text: str) -> None:
        """Writes a file with the directories above it."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


_ATTEMPTS: Final = 20
_PAUSE_S: Final = 0.1


class ThrowawayError(Exception):
    """A place that cannot be made or removed; the text says which, and why."""


@contextmanager
def throwaway() -> Iterator[ThrowawayPlace]:
    """Yields a place for as long as the block runs; raises `ThrowawayError`."""
    try:
        # A short name: the path of a socket below it is limited.
        place = ThrowawayPlace(Path(tempfile.mkdtemp(prefix="wg-crash-")).resolve())
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

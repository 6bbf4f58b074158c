"""A throw-away home, work folder and set of Watchgate directories for one test."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Place(msgspec.Struct, frozen=True):
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

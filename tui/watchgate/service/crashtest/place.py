"""A throw-away home, work directory and set of Watchgate directories."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Place(msgspec.Struct, frozen=True):
    """Where one test happens; `top` is short, as the path of a socket has to be."""

    top: Path

    @property
    def home(self) -> Path:
        """The user's home directory."""
        return self.top / "home"

    @property
    def work(self) -> Path:
        """The directory that the agent works in."""
        return self.top / "work"

    @property
    def scratch(self) -> Path:
        """The temporary directory."""
        return self.top / "tmp"

    @property
    def runtime(self) -> Path:
        """Watchgate's runtime directory."""
        return self.top / "run"

    @property
    def state(self) -> Path:
        """Watchgate's state directory."""
        return self.top / "state"

    @property
    def config(self) -> Path:
        """Watchgate's configuration file."""
        return self.top / "config" / "config.toml"

    def make(self) -> None:
        """Make the directories that are there before any program has run."""
        for directory in (self.home, self.work, self.scratch):
            directory.mkdir()

    def write(self, file: Path, text: str) -> None:
        """Write a file with the directories above it."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

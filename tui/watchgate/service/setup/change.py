"""One edit of a file, planned and not yet made."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Literal

import msgspec

from watchgate.agents.base import Adapter
from watchgate.service.setup.files import Found
from watchgate.service.setup.parts import Part


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one file: `after` None means that it is to be deleted, or stays away.

    `restored` says that it is exactly what was there before the installation. `displaced` are
    events whose other entries move up. `status_line` says whose the file has before, "" without.
    """

    agent: Adapter
    part: Part
    found: Found
    after: bytes | None
    restored: bool = False
    displaced: tuple[str, ...] = ()
    status_line: Literal["", "ours", "theirs"] = ""

    @property
    def path(self) -> Path:
        """The file behind all links."""
        return self.found.path

    @property
    def needed(self) -> bool:
        """Whether anything is to be written at all."""
        return self.after != self.found.content

    def sizes(self) -> tuple[int, int]:
        """Return how many lines it adds and takes away."""
        lines = self.diff().splitlines()[2:]
        return sum(line[0] == "+" for line in lines), sum(line[0] == "-" for line in lines)

    def diff(self) -> str:
        """The change as a unified diff."""
        return "".join(
            difflib.unified_diff(
                self.found.text.splitlines(keepends=True),
                (self.after or b"").decode("utf-8-sig").splitlines(keepends=True),
                str(self.path),
                str(self.path),
            )
        )

"""The files that an installation of one agent consists of, and the planned edit of each."""

from __future__ import annotations

import difflib
import io
from pathlib import Path
from typing import Literal

import msgspec

from watchgate.agents.base import Adapter
from watchgate.client_uninstall import lines_that_call
from watchgate.service.setup.files import Found
from watchgate.service.setup.parts import Part


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The edit of one file: `after` None means that it is to be deleted, or stays away.

    `restored` says that it is exactly what was there before the installation. `displaced` are
    events whose other entries move up. `status_line` says whose the file has before, "" without.
    """

    agent: Adapter
    part: Part
    file: Found
    after: bytes | None
    restored: bool = False
    displaced: tuple[str, ...] = ()
    status_line: Literal["", "ours", "theirs"] = ""

    @property
    def path(self) -> Path:
        """Returns the file behind all links."""
        return self.file.path

    @property
    def needed(self) -> bool:
        """Returns whether anything is to be written at all."""
        return self.after != self.file.content

    @property
    def left(self) -> str:
        """Returns the lines that still run the hook client afterwards: somebody changed them."""
        return lines_that_call(self._text_after)

    def sizes(self) -> tuple[int, int]:
        """Returns the numbers of lines that it adds and takes away."""
        lines = self.diff_lines()[2:]
        return sum(line[0] == "+" for line in lines), sum(line[0] == "-" for line in lines)

    def diff(self) -> str:
        """Returns the change as a unified diff."""
        return "".join(f"{line}\n" for line in self.diff_lines())

    def diff_lines(self) -> list[str]:
        """Returns the lines of the diff; one without an end is followed by a note of that."""
        name = str(self.path)
        old, new = _lines(self.file.text), _lines(self._text_after)
        diff = "".join(map(_ended, difflib.unified_diff(old, new, name, name)))
        return [line.removesuffix("\n") for line in _lines(diff)]

    @property
    def _text_after(self) -> str:
        return (self.after or b"").decode("utf-8-sig")


def _lines(text: str) -> list[str]:
    """Returns the lines of a text as other tools see them, each with its end."""
    return list(io.StringIO(text, newline="\n"))


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"

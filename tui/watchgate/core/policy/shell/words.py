"""The words of a shell command after quotes are removed, and its redirects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from watchgate.core.text import Span

Expands = Literal["", "glob", "value", "words"]
Tame = Literal["", "path", "name"]


def names(text: str) -> frozenset[str]:
    """The set of the blank-separated words of a table's entry."""
    return frozenset(text.split())


class Word(msgspec.Struct, frozen=True, gc=False):
    """One word as the command would get it, expansions left as they are written.

    `at[i]` is the position of `text[i]` in the original command; `start` and `end` cover the word
    with its quotes. `expands` says what the shell would make of it: nothing, the names of files
    (`glob`), one quoted `value`, or any number of `words`. `prefix` is the text before the first
    expansion, all of it where there is none. What is `tame` becomes no option: a `path` below
    another, or a `name` or number without signs of the shell.
    """

    text: str
    at: Sequence[int]
    start: int
    end: int
    expands: Expands = ""
    prefix: str = ""
    tame: Tame = ""

    @property
    def span(self) -> Span:
        """Return the place of the word in the original command."""
        return self.start, self.end

    @property
    def dynamic(self) -> bool:
        """Return whether a part of the word is only known at run time."""
        return self.expands != ""


class Redirect(msgspec.Struct, frozen=True, gc=False):
    """A redirect of a file or of a descriptor.

    `operator` is one of `>`, `>>`, `>|`, `&>`, `&>>`, `>&`, `<>` and `<`, for a descriptor `>&` or
    `<&`; a target such as `1`, `2-` or `-` after `>&` is a descriptor, any other is a file.
    """

    operator: str
    target: Word
    descriptor: bool = False

    @property
    def writes(self) -> bool:
        """Return whether a file is opened for writing."""
        return not self.descriptor and self.operator != "<"

    @property
    def reads(self) -> bool:
        """Return whether a file is opened for reading."""
        return not self.descriptor and self.operator in ("<", "<>")

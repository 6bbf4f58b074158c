"""The parts of a shell command: words, redirects, pipelines, and the commands inside them."""

from __future__ import annotations

import msgspec

from watchgate.core.text import Span


def names(text: str) -> frozenset[str]:
    """The set of the blank-separated words of a table's entry."""
    return frozenset(text.split())


class Word(msgspec.Struct, frozen=True):
    """One word after quotes are removed.

    `at[i]` is the position of `text[i]` in the original command; `start` and `end` cover the word
    with its quotes. `dynamic` says that the shell would expand it to something else.
    """

    text: str
    at: tuple[int, ...]
    start: int
    end: int
    dynamic: bool = False
    inner: tuple[Script, ...] = ()

    @property
    def span(self) -> Span:
        """Where the word stands in the original command."""
        return self.start, self.end


class Redirect(msgspec.Struct, frozen=True):
    """A redirect of a file: `>`, `>>`, `>|`, `&>`, `<>` or `<`, and its target."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether the target is opened for writing."""
        return self.operator != "<"


class Simple(msgspec.Struct, frozen=True):
    """One command of a pipeline: words, or a group in parentheses, with redirects.

    `documents` are texts given on its standard input: here-documents and here-strings.
    """

    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    documents: tuple[Word, ...] = ()
    groups: tuple[Script, ...] = ()


class Script(msgspec.Struct, frozen=True):
    """A list of pipelines, and whether a part of it could not be understood."""

    pipelines: tuple[tuple[Simple, ...], ...] = ()
    opaque: bool = False

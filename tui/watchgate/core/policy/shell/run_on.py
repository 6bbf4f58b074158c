"""Ends of commands that the grammar passes over, found in the text between the words of one.

Behind a pipeline of three it takes the next line for words of the last command, and behind
redirects without a program the next line for their command.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from watchgate.core.text import Span

if TYPE_CHECKING:
    from watchgate.core.policy.shell.grammar import Node

# To the shell these are one line each, but for the here-documents in them.
ONE_LINE = frozenset(
    "command redirected_statement file_redirect herestring_redirect declaration_command"
    " unset_command variable_assignments".split()
)


def line_ends(text: str, children: Sequence[Node]) -> Iterator[Span]:
    """Find where a line ends between two parts of what should be one line."""
    parts = [child for child in children if child.type != "comment"]
    for before, after in pairwise(parts):
        between = text[before.end_byte : after.start_byte]
        if "\n" in between and ("#" in between or "\n" in between.replace("\\\n", "")):
            yield before.end_byte, after.start_byte


def ended(text: str, ends: Iterable[Span]) -> str:
    """The text with a sign at these ends, every character else in its old place."""
    for start, end in ends:
        text = f"{text[:start]};{' ' * (end - start - 1)}{text[end:]}"
    return text

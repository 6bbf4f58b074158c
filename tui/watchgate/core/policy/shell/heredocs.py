"""Ends of here-documents and of lines, found in the text, since the grammar is too lenient.

Behind a pipeline of three it takes the next line for words of the last command, and behind
redirects without a program the next line for their command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from watchgate.core.base.text import Span
from watchgate.core.policy.shell.commands import Word
from watchgate.core.policy.shell.script import PipelinePart

if TYPE_CHECKING:
    from watchgate.core.policy.shell.expansions import WordReader
    from watchgate.core.policy.shell.grammar import Node

# To the shell these are one line each, but for the here-documents in them.
ONE_LINE = frozenset(
    "command redirected_statement file_redirect herestring_redirect declaration_command"
    " unset_command variable_assignments".split()
)


def line_ends(text: str, children: Sequence[Node]) -> Iterator[Span]:
    """Finds where a line ends between two parts of what should be one line."""
    for before, after in pairwise(child for child in children if child.type != "comment"):
        between = text[before.end_byte : after.start_byte]
        if "\n" in between and ("#" in between or "\n" in between.replace("\\\n", "")):
            yield before.end_byte, after.start_byte


def ended(text: str, ends: Iterable[Span]) -> str:
    """The text with a sign at these ends, every character else in its old place."""
    for start, end in ends:
        text = f"{text[:start]};{' ' * (end - start - 1)}{text[end:]}"
    return text


_QUOTES = re.compile(r"['\"\\]")
_EXPANDS = re.compile(r"[$`]")
_JOINED = re.compile(r"(?<!\\)(?:\\\\)*\\\n")
# With a blank in front, and the next command behind them.
_REDIRECTS_BEHIND = re.compile(
    r"(?:[ \t](?:\d?>&\d|(?:&|\d)?>>?[ \t]?[\w./-]+)){1,4}(?=[ \t]*(?:\||&&|;))"
)
# Nothing behind the mark may hide the end of its line.
_QUOTED_BACKSLASH = re.compile(r"<<-?[ \t]*(?:'\w+'|\"\w+\")[^'\"\\`$#\n]*\n\\")
_UNCLEAR = "Has a here-document whose end is unclear"


def document(reader: WordReader, redirect: Node, body: Node, part: PipelinePart) -> Word:
    """The text of a here-document; the part gets the scripts in it."""
    start, end = _extent(reader, redirect)
    mark = next(child for child in redirect.children if child.type == "heredoc_start")
    if reader.source.text[start : body.start_byte].strip():
        reader.notes.doubt(_UNCLEAR)
    word = reader.piece(start, end)
    if _QUOTES.search(reader.source.text, mark.start_byte, mark.end_byte):
        return word
    reader.scripts_in(body, part)
    if _JOINED.search(word.text):
        reader.notes.doubt(_UNCLEAR)
    if expands := _EXPANDS.search(word.text):
        word = msgspec.structs.replace(word, expands="value", prefix=word.text[: expands.start()])
    return word


def reordered(root: Node, text: str, at: Sequence[int]) -> tuple[str, Sequence[int]]:
    """The text with plain redirects behind a here-document's mark put in front of it.

    `cat <<E 2>&1 | head` is the same as `cat 2>&1 <<E | head`, which the grammar reads. Only what
    it has misread is moved; `at` are the places of the characters, which move along.
    """
    for node in _documents(root):
        if not any(child.type == "file_redirect" and child.has_error for child in node.children):
            continue
        start, mark = node.start_byte, node.children[1].end_byte
        behind = _REDIRECTS_BEHIND.match(text, mark)
        if behind is not None:
            order = (*range(mark + 1, behind.end()), mark, *range(start, mark))
            moved = "".join(text[index] for index in order)
            text = text[:start] + moved + text[behind.end() :]
            at = (*at[:start], *(at[index] for index in order), *at[behind.end() :])
    return text, at


def masked(root: Node, text: str) -> str:
    """The text as the grammar is to see it, of the same length.

    A quoted document whose first line begins with a backslash, as commands of psql do, is taken for
    more words of the command. A letter in its place changes nothing of what the shell makes of it.
    """
    for node in _documents(root):
        if line := _QUOTED_BACKSLASH.match(text, node.start_byte):
            text = f"{text[: line.end() - 1]}x{text[line.end() :]}"
    return text


def _documents(root: Node) -> Iterator[Node]:
    todo = [root]
    while todo:
        node = todo.pop()
        if node.type == "heredoc_redirect":
            yield node
        todo += node.children


def bodiless(reader: WordReader, redirect: Node) -> None:
    """Doubts a here-document without lines, if lines of the text belong to it all the same."""
    start, end = _extent(reader, redirect)
    if start != end:
        reader.notes.doubt(_UNCLEAR)


def _extent(reader: WordReader, redirect: Node) -> tuple[int, int]:
    """Finds the span of the body as the shell has it; doubted where the grammar disagrees."""
    text = reader.source.text
    nodes = {child.type: child for child in redirect.children}
    mark, ended = nodes["heredoc_start"], nodes.get("heredoc_end")
    delimiter = _QUOTES.sub("", text[mark.start_byte : mark.end_byte])
    if not delimiter.isascii() or "$" in delimiter:
        reader.notes.doubt(_UNCLEAR)
    first = text.find("\n", mark.end_byte) + 1 or len(text)
    start = first
    for line in text[first:].split("\n"):
        stop = start + len(line)
        if start < len(text) and (line.lstrip("\t") if "<<-" in nodes else line) == delimiter:
            if ended is None or ended.end_byte != stop:
                reader.notes.doubt(_UNCLEAR)
            return first, start
        start = stop + 1
    reader.notes.doubt(_UNCLEAR)
    return first, len(text)

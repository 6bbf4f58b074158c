"""Printing: JSON lines for scripts, escaped text for people.

- Exit codes, and the one way in which a command gives up.
- The progress of a command that takes long, on the terminal behind stderr.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, TextIO

import msgspec

from watchgate.core.base.text import safe_text


class Exit(IntEnum):
    """The exit codes that a script can rely on."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    NO_CORE = 3
    TOO_LATE = 4


class Stop(Exception):
    """A command cannot go on: the message says why and how to mend it."""

    def __init__(self, message: str, code: Exit = Exit.REFUSED) -> None:
        super().__init__(message)
        self.code = code


_CLEARED = "\r\x1b[K"


@contextmanager
def progress(what: str) -> Iterator[Callable[[int], None]]:
    """Shows a count of `what` while the block runs; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _count: None
        return

    def show(count: int) -> None:
        print(f"{_CLEARED}{count:,} {what}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print(_CLEARED, end="", file=sys.stderr, flush=True)


def json_line(value: Any) -> None:
    """One JSON object on a line of its own, at once."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def say(text: str = "") -> None:
    """A line for a person; whatever came from outside is made visible first."""
    print(safe_text(text), flush=True)


def prose(text: str) -> None:
    """Prints a sentence for a person, broken between words where a terminal is narrower."""
    line = safe_text(text)
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    if sys.stdout.isatty():
        cells = shutil.get_terminal_size().columns
        line = textwrap.fill(
            line, cells, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    print(line, flush=True)


def tell(text: str) -> None:
    """As `prose`, of what is done whether or not anybody still reads."""
    try:
        prose(text)
    except BrokenPipeError:
        give_up_stdout()


def give_up_stdout() -> None:
    """Lets what is printed from now on, and what is still buffered, go nowhere."""
    _give_up(sys.stdout)


def complain(text: str) -> None:
    """A diagnostic, on stderr, with whatever came from outside made visible.

    What it is about goes on, and ends, in the same way where nobody reads it any more.
    """
    try:
        print(f"watchgate: {safe_text(text)}", file=sys.stderr)
    except BrokenPipeError:
        _give_up(sys.stderr)


def _give_up(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """Columns as wide as their contents, the last one as it is."""
    lines = [head, *(tuple(safe_text(cell) for cell in row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head) - 1)]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line[:-1], widths, strict=True)]
        print("  ".join([*cells, line[-1]]).rstrip())

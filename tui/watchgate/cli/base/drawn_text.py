"""Text from outside as commands print it: nothing in it hides, and nothing in it imitates a mark.

The marks are those of the console: `<U+200B>` for what cannot be seen, `<4001 blanks>`. A terminal
shows ours in reverse video; elsewhere the same words in the text itself begin with `<U+003C>`.
"""

from __future__ import annotations

import os
import re
import sys
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchgate.ui.widgets.base.text_masking import MaskedSpan, Masking

BLANK_LINES = 4
"""From so many blank lines in a row on they are told as a number."""

_LOOKS_OURS = re.compile(r"<(?=U\+[0-9A-F]{4,6}>|[0-9]+ blanks>|[0-9]+ blank lines>)")
_REVERSE, _DIM, _PLAIN = "\x1b[7m", "\x1b[2m", "\x1b[0m"


def styled_output() -> bool:
    """Tells whether stdout is a terminal that knows reverse video."""
    return sys.stdout.isatty() and os.environ.get("TERM") not in (None, "", "dumb")


def drawn(text: str, look: Masking | None = None, *, styled: bool) -> str:
    """The text on one line; its secrets as they are unless `how` covers them."""
    return _drawn(text, look, styled=styled)


def drawn_fact(line: str, *, styled: bool) -> str:
    """A line of a page: its indent is ours, what follows is not."""
    rest = line.lstrip(" ")
    return line[: len(line) - len(rest)] + drawn(rest, styled=styled)


def drawn_lines(text: str, look: Masking | None = None, *, styled: bool) -> list[str]:
    """The lines of the text; many blank ones in a row are told as a number."""
    return _folded(_drawn(text, look, styled=styled, newline="\n").split("\n"), styled=styled)


def _drawn(text: str, look: Masking | None, *, styled: bool, newline: str = "") -> str:
    from watchgate.ui.widgets.base.text_masking import Masking, mask_text

    parts: list[str] = []
    done = 0
    for each in mask_text(text, look or Masking(bare=True)).stretches:
        ends_line = newline and each.kind == "break" and each.text == "\\n"
        mark = newline if ends_line else _mark(each, styled=styled)
        parts += (_own(text[done : each.start], styled=styled), mark)
        done = each.end
    return "".join([*parts, _own(text[done:], styled=styled)])


def _own(text: str, *, styled: bool) -> str:
    return text if styled else _LOOKS_OURS.sub("<U+003C>", text)


def _mark(each: MaskedSpan, *, styled: bool) -> str:
    if not styled:
        return each.text
    return f"{_DIM if each.kind == 'break' else _REVERSE}{each.text}{_PLAIN}"


def _folded(lines: list[str], *, styled: bool) -> list[str]:
    """The lines, with runs of blank ones as one mark; a few stay, as they set parts apart."""
    parts: list[str] = []
    for blank, run in groupby(lines, lambda line: not line.strip()):
        those = list(run)
        if blank and len(those) >= BLANK_LINES:
            words = f"<{len(those)} blank lines>"
            those = [f"{_REVERSE}{words}{_PLAIN}" if styled else words]
        parts += those
    return parts

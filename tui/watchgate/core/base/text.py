r"""Text from outside, made safe to show: what a reader cannot see becomes a visible escape.

A terminal obeys control characters, bidi controls reorder what is read, zero-width, tag and filler
characters hide, blanks that no shell takes for blanks make one word look like two, nobody knows
what is drawn for private and unassigned code points, and heaps of marks are drawn over the letters
around them. None reaches a screen, a log or a notification: they appear as `<U+200B>`, a newline as
`\n` and a tab as `\t`. Source of the ranges: Unicode general categories Cc, Cf, Cs, Co and Zs (but
for the space), the default-ignorable code points, and letters that are drawn as nothing; Cn is
asked of this Python's own table.
"""

from __future__ import annotations

import re
from unicodedata import category

import msgspec

Span = tuple[int, int]

_HIDDEN_RANGES = (
    ("\x00", "\x1f"),  # C0
    ("\x7f", "\xa0"),  # DEL, C1 and no-break space
    ("\xad", "\xad"),  # soft hyphen
    ("\u034f", "\u034f"),  # combining grapheme joiner
    ("\u0600", "\u0605"),  # Arabic number signs
    ("\u061c", "\u061c"),  # Arabic letter mark
    ("\u06dd", "\u06dd"),  # Arabic end of ayah
    ("\u070f", "\u070f"),  # Syriac abbreviation mark
    ("\u115f", "\u1160"),  # Hangul fillers
    ("\u1680", "\u1680"),  # Ogham space
    ("\u17b4", "\u17b5"),  # Khmer inherent vowels
    ("\u180b", "\u180f"),  # Mongolian selectors and vowel separator
    ("\u2000", "\u200f"),  # blanks of many widths, zero-width and direction marks
    ("\u2028", "\u202f"),  # line and paragraph separators, bidi embeddings, narrow no-break space
    ("\u205f", "\u206f"),  # mathematical space, word joiner, invisible operators, bidi isolates
    ("\u2800", "\u2800"),  # blank braille cell
    ("\u3000", "\u3000"),  # ideographic space
    ("\u3164", "\u3164"),  # Hangul filler
    ("\ud800", "\uf8ff"),  # lone surrogates and private use
    ("\ufe00", "\ufe0f"),  # variation selectors
    ("\ufeff", "\ufeff"),  # byte order mark
    ("\uffa0", "\uffa0"),  # half-width Hangul filler
    ("\ufff0", "\ufffb"),  # interlinear annotation and unassigned specials
    ("\ufffe", "\uffff"),  # noncharacters
    ("\U000110bd", "\U000110bd"),  # Kaithi number sign
    ("\U000110cd", "\U000110cd"),
    ("\U00013430", "\U0001345f"),  # Egyptian format controls
    ("\U0001bca0", "\U0001bca3"),  # shorthand format controls
    ("\U0001d159", "\U0001d159"),  # musical null notehead
    ("\U0001d173", "\U0001d17a"),  # musical format controls
    ("\U000e0000", "\U000e0fff"),  # tags and supplementary variation selectors
    ("\U000f0000", "\U0010ffff"),  # private use and noncharacters
)
_RANGES = "".join(f"{a}-{b}" for a, b in _HIDDEN_RANGES)
_HIDDEN = re.compile(f"[{_RANGES}]")
_NAMED = {"\n": "\\n", "\t": "\\t"}
_NEWLINE = re.compile(r"\r?\n")
_VISIBLE_ASCII = bytes(n for n in range(128) if chr(n) in _NAMED or not _HIDDEN.match(chr(n)))

MARKS_SHOWN = 5
"""Combining marks on one character beyond which they are escaped: no script puts as many there."""


def _hidden_in(text: str) -> re.Pattern[str]:
    """The characters to escape in this text: those of the ranges, its unassigned ones, and heaps.

    800,000 code points are unassigned: a class of all of them would take long to build.
    """
    if text.isascii():
        return _HIDDEN
    chars = sorted(set(text))
    unassigned = "".join(char for char in chars if category(char) == "Cn")
    marks = "".join(char for char in chars if category(char) in ("Mn", "Me"))
    if not unassigned and not marks:
        return _HIDDEN
    heaped = f"|(?<=[{marks}]{{{MARKS_SHOWN}}})[{marks}]" if marks else ""
    return re.compile(f"[{_RANGES}{unassigned}]{heaped}")


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    return _NAMED.get(char) or f"<U+{ord(char):04X}>"


def safe_text(text: str) -> str:
    """The text on one line, with every character that cannot be seen as a visible escape."""
    return _hidden_in(text).sub(_escape, text)


def safe_lines(text: str) -> list[str]:
    """The lines of the text, each of them safe; a line ends at LF or CR LF."""
    return [safe_text(line) for line in _NEWLINE.split(text)]


def hidden_spans(text: str) -> list[Span]:
    """Returns the places of characters that a reader cannot see, newlines and tabs left out."""
    if text.isascii() and not text.encode().translate(None, _VISIBLE_ASCII):
        return []
    return [m.span() for m in _hidden_in(text).finditer(text) if m.group() not in _NAMED]


class Escape(msgspec.Struct, frozen=True, gc=False):
    """One escape: the character at `source` of the original is drawn at `start` to `end`."""

    source: int
    start: int
    end: int


class Visible(msgspec.Struct, frozen=True):
    """A safe text together with where its escapes are, in their order."""

    text: str
    escapes: tuple[Escape, ...] = ()

    @property
    def hidden(self) -> tuple[Span, ...]:
        """The spans of `text` that stand for characters nobody could see."""
        return tuple((e.start, e.end) for e in self.escapes)

    def map(self, span: Span) -> Span:
        """The span of `text` that shows this span of the original."""
        return self._at(span[0]), self._at(span[1])

    def _at(self, position: int) -> int:
        return position + sum(e.end - e.start - 1 for e in self.escapes if e.source < position)


def visible(text: str) -> Visible:
    """The safe text with its escapes located, for a screen that marks them."""
    hidden = _hidden_in(text)
    escapes: list[Escape] = []
    longer = 0
    for match in hidden.finditer(text):
        start = match.start() + longer
        end = start + len(_escape(match))
        escapes.append(Escape(match.start(), start, end))
        longer += end - start - 1
    return Visible(hidden.sub(_escape, text), tuple(escapes))

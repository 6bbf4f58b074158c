"""A text as it is shown, and where each part of it went: secrets, hidden characters, blanks."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from watchgate.core.records import RequestData
from watchgate.core.redact import coverable
from watchgate.core.text import Span, visible
from watchgate.ui.theming.ascii_only import FOREIGN, as_escape, ascii_asked

_BLANKS = re.compile(" {9,}")
_INNER_BLANKS = re.compile("(?<=[^ \n]) {9,}|(?:^|(?<=\n)) {33,}")
"""As `_BLANKS`, but for what indents a line of code."""

Kind = Literal["secret", "hidden", "break", "blanks"]


class Look(msgspec.Struct, frozen=True):
    """How a text is looked at: with its secrets `bare`, or covered as far as `coverable` lets.

    Runs of blanks are told as a number, also those that indent a line unless `code`.
    """

    bare: bool = False
    starts: tuple[int, ...] = ()
    one_line: bool = False
    code: bool = False


COVERED = Look()


def look(data: RequestData, *, bare: bool) -> Look:
    """How the text of a request is looked at; `bare` once its secrets were asked for."""
    starts = tuple(sorted({part.span[0] for part in data.segments}))
    return Look(bare, starts, one_line=data.opaque)


class Stretch(msgspec.Struct, frozen=True, gc=False):
    """A stretch of the original (`start` to `end`) that is drawn in other words."""

    start: int
    end: int
    text: str
    kind: Kind


class Shown(msgspec.Struct, frozen=True):
    """A text in the making: its own characters, but for the stretches drawn in other words."""

    source: str
    stretches: tuple[Stretch, ...]

    def at(self, position: int) -> int:
        """Where in the shown text a position of the original is; inside a stretch: where that is.

        Positions at the end of a stretch are past it.
        """
        shift = 0
        for each in self.stretches:
            if position < each.end:
                return min(position, each.start) + shift
            shift += len(each.text) - (each.end - each.start)
        return position + shift

    def span(self, span: Span) -> Span:
        """The span of the shown text that shows a span of the original; stretches stay whole."""
        start, end = span
        for each in self.stretches:
            if each.start < end < each.end:
                end = each.end
        return self.at(start), self.at(end)


def shown(text: str, how: Look = COVERED) -> Shown:
    """How a text is to be drawn so that nothing in it hides, and no secret is told."""
    told = [] if how.bare else coverable(text, how.starts, one_line=how.one_line)
    found = [Stretch(each.start, each.end, each.shown, "secret") for each in told]
    taken = [(each.start, each.end) for each in found]
    safe = visible(text)
    for escape in safe.escapes:
        words = safe.text[escape.start : escape.end]
        kind: Kind = "break" if words.startswith("\\") else "hidden"
        found.append(Stretch(escape.source, escape.source + 1, words, kind))
    if ascii_asked() and not text.isascii():
        hidden = {each.start for each in found if each.kind == "hidden"}
        for match in FOREIGN.finditer(text):
            start, end = match.span()
            if start not in hidden:
                found.append(Stretch(start, end, as_escape(match.group()), "hidden"))
    for match in (_INNER_BLANKS if how.code else _BLANKS).finditer(text):
        start, end = match.span()
        found.append(Stretch(start, end, f"<{end - start} blanks>", "blanks"))
    if taken:
        found = [each for each in found if each.kind == "secret" or not _inside(each, taken)]
    return Shown(text, tuple(sorted(found, key=lambda each: each.start)))


def covers(text: str, how: Look = COVERED) -> int:
    """How many secrets of a text are covered when it is looked at so."""
    return len(coverable(text, how.starts, one_line=how.one_line))


def _inside(each: Stretch, taken: list[Span]) -> bool:
    return any(start < each.end and each.start < end for start, end in taken)

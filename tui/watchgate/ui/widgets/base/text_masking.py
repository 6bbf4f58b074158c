"""A text with its secrets, hidden characters and runs of blanks replaced by visible words."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from watchgate.core.base.text import Span, visible
from watchgate.core.model.records import RequestData
from watchgate.core.secrets.redact import coverable
from watchgate.ui.base.ascii_only import FOREIGN, as_escape, ascii_asked

_BLANKS = re.compile(" {9,}")
_INNER_BLANKS = re.compile("(?<=[^ \n]) {9,}|(?:^|(?<=\n)) {33,}")
"""As `_BLANKS`, but for what indents a line of code."""

Kind = Literal["secret", "hidden", "break", "blanks"]


class Masking(msgspec.Struct, frozen=True):
    """Masking of a text: its secrets `bare`, or covered as far as `coverable` allows.

    Runs of blanks become a number, also those that indent a line unless `code`.
    """

    bare: bool = False
    starts: tuple[int, ...] = ()
    one_line: bool = False
    code: bool = False


COVERED = Masking()


def masking_of(data: RequestData, *, bare: bool) -> Masking:
    """Returns the masking for the text of a request; `bare` once its secrets were asked for."""
    starts = tuple(sorted({part.span[0] for part in data.segments}))
    return Masking(bare, starts, one_line=data.opaque)


class MaskedSpan(msgspec.Struct, frozen=True, gc=False):
    """A stretch of the original (`start` to `end`) that is drawn in other words."""

    start: int
    end: int
    text: str
    kind: Kind


class MaskedText(msgspec.Struct, frozen=True):
    """A text as it is drawn: its own characters, but for the stretches drawn in other words."""

    source: str
    stretches: tuple[MaskedSpan, ...]

    def at(self, position: int) -> int:
        """Returns the place in the shown text of a position of the original.

        Positions inside a stretch have the place of its start, those at its end are past it.
        """
        shift = 0
        for each in self.stretches:
            if position < each.end:
                return min(position, each.start) + shift
            shift += len(each.text) - (each.end - each.start)
        return position + shift

    def span(self, span: Span) -> Span:
        """Returns the span of the shown text for a span of the original; stretches stay whole."""
        start, end = span
        for each in self.stretches:
            if each.start < end < each.end:
                end = each.end
        return self.at(start), self.at(end)


def mask_text(text: str, masking: Masking = COVERED) -> MaskedText:
    """Returns a text as it is to be drawn: nothing in it hides, and no secret shows."""
    secrets = [] if masking.bare else coverable(text, masking.starts, one_line=masking.one_line)
    stretches = [MaskedSpan(each.start, each.end, each.shown, "secret") for each in secrets]
    taken = [(each.start, each.end) for each in stretches]
    safe = visible(text)
    for escape in safe.escapes:
        words = safe.text[escape.start : escape.end]
        kind: Kind = "break" if words.startswith("\\") else "hidden"
        stretches.append(MaskedSpan(escape.source, escape.source + 1, words, kind))
    if ascii_asked() and not text.isascii():
        hidden = {each.start for each in stretches if each.kind == "hidden"}
        for match in FOREIGN.finditer(text):
            start, end = match.span()
            if start not in hidden:
                stretches.append(MaskedSpan(start, end, as_escape(match.group()), "hidden"))
    for match in (_INNER_BLANKS if masking.code else _BLANKS).finditer(text):
        start, end = match.span()
        stretches.append(MaskedSpan(start, end, f"<{end - start} blanks>", "blanks"))
    if taken:
        stretches = [
            each for each in stretches if each.kind == "secret" or not _inside(each, taken)
        ]
    return MaskedText(text, tuple(sorted(stretches, key=lambda each: each.start)))


def count_secrets(text: str, masking: Masking = COVERED) -> int:
    """Counts the secrets of a text that are covered with this masking."""
    return len(coverable(text, masking.starts, one_line=masking.one_line))


def _inside(each: MaskedSpan, taken: list[Span]) -> bool:
    return any(start < each.end and each.start < end for start, end in taken)

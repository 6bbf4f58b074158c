"""Finds the secrets of a text: only known shapes and announcements, no guessing by randomness.

So ordinary text stays readable. Every text of every record is searched, and almost none holds a
secret: short texts without any sign are remembered, the others are cut into words once, and a
kind's own pattern runs only where a word begins as its tokens do, names a program of its, or where
its sign is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import takewhile
from typing import Any

import msgspec

from watchgate.core.base.patterns.allowance import AllowanceSpent, check, one_text
from watchgate.core.base.text import hidden_spans
from watchgate.core.secrets.announced_secrets import ANNOUNCED, ASSIGNED, INERT
from watchgate.core.secrets.argument_secrets import PROGRAMS, arguments, may_announce
from watchgate.core.secrets.token_shapes import TOKENS

_PIECE_CHARS = 65_536
# What a secret needs before it, and what one may have of itself in the next piece.
_BEFORE_CHARS = 1_024
_BEHIND_CHARS = 16_384
# What is left of a secret that goes on behind its piece.
_INERT_RUN = re.compile(rf"{INERT}+")
_SMALL = b"abcdefghijklmnopqrstuvwxyz0123456789"
_TO_PARTS = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 32 for code in range(256)
)
_LONG_PART = 10
SHORT_BYTES = 4_096
"""So short a text is looked through at once, whatever it holds."""
_CHECKED_PARTS = 1_024
"""After so many parts of one value the time that it may take is looked at."""

_WITHOUT_TEXT = (int, float, type(None))
_MAX_PLAIN_PARTS = 20_000
# Words that are a sign of nothing: records repeat most of theirs.
_PLAIN_PARTS: set[bytes] = set()
_MAX_PLAIN_TEXTS = 4_096
_PLAIN_TEXT_CHARS = 512
# Texts without a sign: the records of one call, and those of one session, repeat many of theirs.
_PLAIN_TEXTS: set[str] = set()
_LEAD = 4
_SHORT_LEAD = 2

_TOKENS = tuple(
    (each.kind, re.compile(rf"(?<!{each.apart}){re.escape(each.head)}{each.tail}"))
    for each in TOKENS
)
_ANNOUNCED = tuple((each.kind, re.compile(each.pattern)) for each in ANNOUNCED)
_SHAPES = _TOKENS + _ANNOUNCED
_ASSIGNED = re.compile(ASSIGNED)


def _first(word: str) -> str:
    """The letters and digits that a word begins with."""
    return "".join(takewhile(str.isalnum, word))


Table = dict[bytes, list[int]]


def _tables() -> tuple[Table, Table, Table]:
    """The shapes by a whole part, by how a part begins, by how a long part begins."""
    whole: Table = {}
    begun: Table = {}
    begun_short: Table = {}
    for number, token in enumerate(TOKENS):
        head = token.head.lower()
        first = _first(head)
        if first != head:
            table, lead = whole, first
        elif len(head) >= _LEAD:
            table, lead = begun, head[:_LEAD]
        else:
            # Many words begin with two letters: only in a long one they are looked for.
            table, lead = begun_short, head[:_SHORT_LEAD]
        table.setdefault(lead.encode(), []).append(number)
    for number, each in enumerate(ANNOUNCED, len(TOKENS)):
        for sign in filter(str.isalnum, each.signs):
            whole.setdefault(sign.encode(), []).append(number)
    return whole, begun, begun_short


def _sized() -> dict[tuple[int, int], list[int]]:
    """The shapes by a part's length and first character."""
    table: dict[tuple[int, int], list[int]] = {}
    for number, each in enumerate(ANNOUNCED, len(TOKENS)):
        for sign in each.signs:
            if sign.startswith("#"):
                for char in sign[3:].strip("-").encode() or _SMALL:
                    table.setdefault((int(sign[1:3]), char), []).append(number)
    return table


_WHOLE, _BEGUN, _BEGUN_SHORT = _tables()
_SIZED = _sized()
_SIZES = frozenset(size for size, _ in _SIZED)
_DASHED = frozenset(
    number
    for number, each in enumerate(ANNOUNCED, len(TOKENS))
    if any(sign[0] == "#" and sign[-1] == "-" for sign in each.signs)
)
_PIECES = tuple(
    (sign, number)
    for number, each in enumerate(ANNOUNCED, len(TOKENS))
    for sign in each.signs
    if not sign.isalnum() and sign[0] not in "#="
)
_PIECE = re.compile("|".join(sorted(re.escape(sign) for sign, _ in _PIECES)))
_BY_NAME = tuple(n for n, each in enumerate(ANNOUNCED, len(TOKENS)) if "=" in each.signs)
_PROGRAMS: dict[bytes, list[str]] = {}
for _name in PROGRAMS:
    _PROGRAMS.setdefault(_first(_name).encode(), []).append(_name)


class Secret(msgspec.Struct, frozen=True):
    """A secret found in a text: what it is and where."""

    kind: str
    start: int
    end: int

    @property
    def shown(self) -> str:
        """Returns the text that stands in the secret's place."""
        return f"<{self.kind}, {self.end - self.start} chars>"


SecretsByText = dict[str, list[Secret]]
"""Texts that were looked through, each with its secrets."""

_memory: ContextVar[SecretsByText | None] = ContextVar("found", default=None)
_REMEMBERED_FROM_CHARS = 256


@contextmanager
def remembering(memory: SecretsByText) -> Iterator[None]:
    """Looks texts up in `memory` before they are looked through, and adds those that were."""
    before = _memory.set(memory)
    try:
        yield
    finally:
        _memory.reset(before)


def has_memory() -> bool:
    """Tells whether texts were looked through before, so that no look at the whole is cheaper."""
    return bool(_memory.get())


def marked(value: Any) -> bool:
    """Tells whether a secret may be in a text of a value such as JSON has; its keys are not texts.

    So it may where that takes longer to look through than one text may.
    """
    try:
        texts = _not_plain(value)
        if texts and any(_is_marked(piece) for _, piece in _pieces("\n".join(texts))):
            return True
    except AllowanceSpent:
        return True
    if len(_PLAIN_TEXTS) > _MAX_PLAIN_TEXTS:
        _PLAIN_TEXTS.clear()
    _PLAIN_TEXTS.update([text for text in texts if len(text) <= _PLAIN_TEXT_CHARS])
    return False


def _not_plain(value: Any) -> list[str]:
    """The texts of a value that may have a sign; the words of a list are looked at as one."""
    texts: list[str] = []
    parts = [value]
    # The parts of a part come behind those that are there already.
    for count, part in enumerate(parts, 1):
        if isinstance(part, str):
            if part not in _PLAIN_TEXTS:
                texts.append(part)
        elif isinstance(part, dict):
            parts += part.values()
        elif isinstance(part, (list, tuple)):
            if part and all(isinstance(word, str) for word in part):
                parts.append(" ".join(part))
            else:
                parts += part
        elif not isinstance(part, _WITHOUT_TEXT) and isinstance(part, Mapping):
            parts += part.values()
        if not count % _CHECKED_PARTS:
            check()
    return texts


def secrets(text: str) -> list[Secret]:
    """The secrets in a text, in order; where two overlap, the one that begins first.

    One that holds a character nobody can see is left out: a secret must not cover that up. A text
    that takes longer to look through than one text may is a secret as a whole.
    """
    memory = _memory.get() if len(text) >= _REMEMBERED_FROM_CHARS else None
    if memory is None:
        return _secrets(text)
    known = memory.get(text)
    if known is None:
        known = memory[text] = _secrets(text)
    return known


def _secrets(text: str) -> list[Secret]:
    try:
        with one_text(within=True):
            matches = [each for start, piece in _pieces(text) for each in _in(text, start, piece)]
    except AllowanceSpent:
        return [Secret("unread-text", 0, len(text))]
    apart: list[Secret] = []
    for secret in sorted(matches, key=lambda each: (each.start, -each.end)):
        if apart and secret.start < apart[-1].end:
            continue
        if not hidden_spans(text[secret.start : secret.end]):
            apart.append(secret)
    return apart


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """The text in pieces that are soon looked through, each with the edges of those beside it."""
    if len(text) <= _PIECE_CHARS:
        yield 0, text
        return
    for place in range(0, len(text), _PIECE_CHARS):
        check()
        start = max(0, place - _BEFORE_CHARS)
        yield start, text[start : place + _PIECE_CHARS + _BEHIND_CHARS]


def _is_marked(text: str) -> bool:
    parts = _parts(text)
    numbers = _candidates(text, parts)
    if numbers and any(_SHAPES[number][1].search(text) for number in numbers):
        return True
    programs = _PROGRAMS.keys() & parts
    return any(may_announce(name, text) for part in programs for name in _PROGRAMS[part])


def _in(text: str, start: int, piece: str) -> Iterator[Secret]:
    """The secrets of a piece of a text that begins at `start`, where they stand in the text."""
    parts = _parts(piece)
    matches = list(_shaped(piece, _candidates(piece, parts)))
    if not _PROGRAMS.keys().isdisjoint(parts):
        matches += [Secret("password", *span) for span in arguments(piece)]
    for secret in matches:
        if start and secret.start < _BEFORE_CHARS:
            continue  # that of the piece before, or the end of a longer one
        end = start + secret.end
        if secret.end == len(piece) and (rest := _INERT_RUN.match(text, end)):
            end = rest.end()
        yield Secret(secret.kind, start + secret.start, end)


def _parts(text: str) -> set[bytes]:
    """The runs of letters and digits in a text, in small letters."""
    return set(text.encode("utf-8", "surrogatepass").translate(_TO_PARTS).split())


def _candidates(text: str, parts: set[bytes]) -> list[int]:
    """The shapes that may be in a text with these parts, in their order."""
    numbers: set[int] = set()
    if unknown := parts - _PLAIN_PARTS:
        numbers.update(_announced_by(text, unknown))
    if _PIECE.search(text):
        numbers.update(number for sign, number in _PIECES if sign in text)
    if "=" in text and _ASSIGNED.search(text):
        numbers.update(_BY_NAME)
    return sorted(numbers)


def _announced_by(text: str, parts: set[bytes]) -> Iterator[int]:
    """The shapes that these parts of a text may be a sign of; the others are remembered."""
    if len(_PLAIN_PARTS) > _MAX_PLAIN_PARTS:
        _PLAIN_PARTS.clear()
    for part in parts:
        size = len(part)
        if not (
            part in _WHOLE
            or part[:_LEAD] in _BEGUN
            or (size >= _LONG_PART and part[:_SHORT_LEAD] in _BEGUN_SHORT)
            or (size in _SIZES and (size, part[0]) in _SIZED)
        ):
            if size <= _LONG_PART:
                _PLAIN_PARTS.add(part)
            continue
        numbers = [
            *_WHOLE.get(part, ()),
            *_BEGUN.get(part[:_LEAD], ()),
            *(_BEGUN_SHORT.get(part[:_SHORT_LEAD], ()) if size >= _LONG_PART else ()),
            *_SIZED.get((size, part[0]), ()),
        ]
        for number in numbers:
            if number < len(TOKENS):
                if TOKENS[number].head in text:
                    yield number
            elif number not in _DASHED or f"{part.decode()}-" in text:
                yield number


def _shaped(text: str, numbers: list[int]) -> Iterator[Secret]:
    for number in numbers:
        check()
        kind, pattern = _SHAPES[number]
        group = "value" if "value" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            yield Secret(kind, *match.span(group))

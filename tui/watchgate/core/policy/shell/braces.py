"""Brace expansion: `a{b,c}d` becomes `abd acd` before anything else of the word is looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from watchgate.core.policy.shell.words import Expands

MAX_WORDS = 64

_RANGE = re.compile(r"(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?")


class Letter(msgspec.Struct, frozen=True, gc=False):
    """A piece of a word whose quotes are removed; `mark` is an unquoted brace or comma."""

    text: str
    at: Sequence[int]
    expands: Expands = ""
    mark: str = ""


def expanded(letters: list[Letter]) -> list[list[Letter]] | None:
    """The words that the pieces of one word stand for; None where there are too many."""
    if sum(letter.mark == "{" for letter in letters) > MAX_WORDS:
        return None
    words: list[list[Letter]] = [[]]
    index = 0
    while index < len(letters):
        close = _closing(letters, index) if letters[index].mark == "{" else None
        choices = _choices(letters[index + 1 : close]) if close else None
        if close is None or choices is None:
            choices, close = [[letters[index]]], index
        words = [word + choice for word in words for choice in choices]
        if len(words) > MAX_WORDS:
            return None
        index = close + 1
    return words


def _closing(letters: list[Letter], start: int) -> int | None:
    depth = 0
    for index in range(start, len(letters)):
        depth += {"{": 1, "}": -1}.get(letters[index].mark, 0)
        if not depth:
            return index
    return None


def _choices(letters: list[Letter]) -> list[list[Letter]] | None:
    """Return the choices in braces: each part between commas, or a range; None for neither."""
    parts: list[list[Letter]] = [[]]
    depth = 0
    for letter in letters:
        depth += {"{": 1, "}": -1}.get(letter.mark, 0)
        if letter.mark == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(letter)
    if len(parts) == 1:
        return _range(letters)
    choices: list[list[Letter]] = []
    for part in parts:
        inner = expanded(part)
        if inner is None or len(choices) > MAX_WORDS:
            return [[Letter("", (), "words")]] * (MAX_WORDS + 1)
        choices += inner
    return choices


def _range(letters: list[Letter]) -> list[list[Letter]] | None:
    match = _RANGE.fullmatch("".join(letter.text for letter in letters))
    if not match or any(letter.expands or letter.mark for letter in letters):
        return None
    ends = match[1], match[2]
    if ends[0].isalpha() != ends[1].isalpha():
        return None
    first, last = (ord(end) if end.isalpha() else int(end) for end in ends)
    step = max(1, abs(int(match[3] or 1)))
    values = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    if len(values) > MAX_WORDS:
        return [[Letter("", (), "words")]]
    position = letters[0].at[:1]
    width = max(map(len, ends)) if any(re.match(r"-?0\d", end) for end in ends) else 0
    texts = (chr(value) if match[1].isalpha() else str(value).zfill(width) for value in values)
    return [[Letter(text, tuple(position) * len(text))] for text in texts]

r"""The filter language of `tail`, `search` and the console.

`agent:codex risk:high -tool:Read "git push"`: terms separated by blanks, all of which must hold.
`key:value` compares one field, without regard to case; a value that ends in `*` is a beginning.
A word without a key is looked for in the text. `-` before a term turns it round (`--force` is a
text). Quotes hold what would end a term or mean something; inside them a backslash precedes `"`
and `\\`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

import msgspec

KEYS = ("agent", "session", "tool", "kind", "lane", "risk", "state", "rule", "request")
TEXT = "text"

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_TERM = re.compile(
    r"(?P<minus>(?:-(?!-))?)(?:(?P<key>[A-Za-z_]+):)?"
    rf'(?:(?P<quoted>{_QUOTED})(?P<star>\*?)|(?P<bare>[^\s"]*))(?=\s|$)',
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PLAIN = re.compile(r'[^\s":*\\-][^\s":*\\]*')


class FilterError(ValueError):
    """A filter that cannot be read; `position` is where in its text, counted from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} (at character {position + 1})")
        self.position = position


class Term(msgspec.Struct, frozen=True):
    """One condition: a field's value or its beginning, or a word of the text; maybe negated."""

    key: str
    value: str
    prefix: bool = False
    negated: bool = False

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether the condition holds; a field that is missing equals nothing."""
        return self._holds(fields) != self.negated

    def _holds(self, fields: Mapping[str, str]) -> bool:
        held = fields.get(self.key)
        if held is None:
            return False
        held, wanted = held.casefold(), self.value.casefold()
        if self.key == TEXT:
            return wanted in held
        return held.startswith(wanted) if self.prefix else held == wanted

    def __str__(self) -> str:
        value = self.value
        if not _PLAIN.fullmatch(value):
            value = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        key = "" if self.key == TEXT else self.key + ":"
        return f"{'-' * self.negated}{key}{value}{'*' * self.prefix}"


class Filter(msgspec.Struct, frozen=True):
    """Conditions that must all hold; without any, everything matches."""

    terms: tuple[Term, ...] = ()

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether a record or row with these fields passes; bare words look at `text`."""
        return all(term.matches(fields) for term in self.terms)

    def __str__(self) -> str:
        return " ".join(map(str, self.terms))


def parse(text: str) -> Filter:
    """The filter that a text means; raises `FilterError` pointing at the fault."""
    terms: list[Term] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        match = _TERM.match(text, position)
        if match is None:
            raise FilterError("a quote that is never closed, or text glued to one", position)
        terms.append(_term(match))
        position = match.end()
    return Filter(tuple(terms))


def _term(match: re.Match[str]) -> Term:
    key = (match["key"] or TEXT).lower()
    if key not in (*KEYS, TEXT):
        raise FilterError(_unknown(match["key"]), match.start("key"))
    negated = bool(match["minus"])
    if match["quoted"] is not None:
        value = _ESCAPED.sub(r"\1", match["quoted"][1:-1])
        if match["star"] and key == TEXT:
            raise FilterError("a star needs a key; text is found anywhere", match.start("star"))
        return Term(key, value, bool(match["star"]), negated)
    value = match["bare"]
    if not value:
        raise FilterError("a value is missing here", match.end())
    if key != TEXT and value.endswith("*"):
        return Term(key, value[:-1], True, negated)
    return Term(key, value, False, negated)


def _unknown(key: str) -> str:
    close = difflib.get_close_matches(key.lower(), KEYS, n=1)
    hint = f" did you mean {close[0]}?" if close else ""
    return f"unknown key {key};{hint} allowed: {', '.join(KEYS)}; quote a text that holds a colon"

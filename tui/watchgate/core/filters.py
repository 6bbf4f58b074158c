r"""The filter language of `tail`, `search` and the console.

`agent:codex risk>=high -tool:Read since:7d "git push"`: terms separated by blanks, all of which
must hold. `key:value` compares one field, without regard to case; a value that ends in `*` is a
beginning. `risk` and `took` are compared with `>`, `>=`, `<` and `<=`. A word without a key is
found in the text where a word begins so, and behind a star anywhere. `-` before a term turns it
round (`--force` is a text). Quotes hold what would end a term or mean something; inside them a
backslash precedes `"` and `\\`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from datetime import tzinfo
from typing import Final

from watchgate.core.filter_keys import DURATIONS, KEYS, ORDERED, RISK_RANK, TEXT, plain
from watchgate.core.filter_terms import Filter, Term, Value
from watchgate.core.moments import since_us, until_us

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_TERM = re.compile(
    r"(?P<minus>(?:-(?!-))?)(?:(?P<key>[A-Za-z_]+)(?P<op>:|>=|<=|>|<))?"
    rf'(?:(?P<lead>(?(key)|\*?))(?P<quoted>{_QUOTED})(?P<star>\*?)|(?P<bare>[^\s"]*))(?=\s|\Z)',
    re.DOTALL,
)
_A_QUOTED = re.compile(_QUOTED, re.DOTALL)
_EQUALS = re.compile(r"([A-Za-z]+)=")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_TOOK = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h)?", re.IGNORECASE)
_UNIT_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


MOST_CHARS: Final = 4_000
"""The longest filter: the core reads whatever it is asked between its other duties."""

__all__ = ["MOST_CHARS", "Filter", "FilterError", "Term", "Value", "parse"]


class FilterError(ValueError):
    """A filter that cannot be read: why, and from where to where in its text, counted from 0."""

    def __init__(self, message: str, position: int, end: int | None = None) -> None:
        super().__init__(f"{message} (at character {position + 1})")
        self.message = message
        self.position = position
        self.end = max(position + 1, end or 0)


def parse(text: str, *, now_us: int | None = None, zone: tzinfo | None = None) -> Filter:
    """Parses a text into a filter; raises `FilterError` pointing at the fault.

    `since:` and `until:` are read at `now_us` (UTC µs), by the clock of `zone` or else of where
    this machine is.
    """
    if len(text) > MOST_CHARS:
        raise FilterError(f"longer than the {MOST_CHARS:,} characters of a filter", MOST_CHARS)
    terms: list[Term] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        match = _TERM.match(text, position)
        if match is None:
            raise _misquoted(text, position)
        terms.append(_term(match, now_us, zone))
        position = match.end()
    return Filter(tuple(terms))


def _misquoted(text: str, position: int) -> FilterError:
    quote = text.index('"', position)
    closed = _A_QUOTED.match(text, quote)
    if closed is None:
        return FilterError("a quote that is never closed", quote, len(text))
    rest = re.compile(r"\S*").match(text, closed.end())
    end = rest.end() if rest else closed.end()
    return FilterError("text glued to a quote; a blank keeps them apart", position, end)


def _term(match: re.Match[str], now_us: int | None, zone: tzinfo | None) -> Term:
    key, op, negated = (match["key"] or TEXT).lower(), match["op"] or ":", bool(match["minus"])
    _check_key(match, key, op)
    quoted, bare = match["quoted"], match["bare"]
    value = bare if quoted is None else _ESCAPED.sub(r"\1", quoted[1:-1])
    if key == TEXT:
        return _text(match, value, negated=negated)
    if not value and quoted is None:
        raise FilterError("a value is missing here", match.end())
    prefix = bool(match["star"])
    if quoted is None and value.endswith("*"):
        value, prefix = value[:-1], True
    start = match.start("bare" if quoted is None else "quoted")
    span = start, match.end()
    if key in ("since", "until") or op != ":" or key in DURATIONS:
        if prefix:
            raise FilterError(f"{key} takes no star", match.end() - 1)
        limit = _limit(key, value, span, now_us, zone)
        return Term(key, value, negated=negated, op=op, limit=limit)
    _check_value(key, value, span, prefix=prefix)
    return Term(key, value, prefix, negated)


def _text(match: re.Match[str], value: str, *, negated: bool) -> Term:
    """Parses a word, which may have a star before it; one behind it changes nothing."""
    anywhere = bool(match["lead"])
    if match["quoted"] is None:
        anywhere = value.startswith("*")
        value = value.removeprefix("*").removesuffix("*")
        if not value:
            raise FilterError("a value is missing here", match.end())
    return Term(TEXT, value, negated=negated, anywhere=anywhere)


def _check_key(match: re.Match[str], key: str, op: str) -> None:
    if key == TEXT and op == ":":
        _check_text(match)
        return
    start, end = match.span("key")
    if key not in KEYS:
        sign = "a colon" if op == ":" else f"a {op}"
        why = _unknown("key", match["key"], tuple(KEYS))
        raise FilterError(f"{why}; quote a text that holds {sign}", start, end)
    wrong = match.start("key"), match.end("op")
    if op != ":" and not KEYS[key].ordered:
        fix = f"write {KEYS[key].example}"
        raise FilterError(f"only {', '.join(ORDERED)} can be compared; {fix}", *wrong)
    if op == ":" and key in DURATIONS:
        raise FilterError(f"how long it {key} is compared: write {key}>5s or {key}<200ms", *wrong)


def _check_text(match: re.Match[str]) -> None:
    named = _EQUALS.match(match["bare"] or "") if match["key"] is None else None
    if named is not None and named[1].lower() in KEYS:
        start = match.start("bare")
        why = f"a value follows a colon: write {KEYS[named[1].lower()].example}"
        raise FilterError(f"{why}; quote a text that holds a =", start, start + named.end())


def _check_value(key: str, value: str, span: tuple[int, int], *, prefix: bool) -> None:
    allowed = KEYS[key].values
    wanted = plain(key, value)
    fits = str.startswith if prefix else str.__eq__
    if allowed and not any(fits(plain(key, each), wanted) for each in allowed):
        raise FilterError(_unknown(key, value, allowed), *span)


def _limit(
    key: str, value: str, span: tuple[int, int], now_us: int | None, zone: tzinfo | None
) -> int:
    """Parses the number that a term compares with: a rank, milliseconds or UTC µs.

    Args:
        key: The key of the term.
        value: The text that was written.
        span: Start and end of the value in the filter, for a fault.
        now_us: The current time (UTC µs); None: there is no clock.
        zone: The zone of times of day; None: that of this machine.
    """
    if key == "risk":
        _check_value(key, value, span, prefix=False)
        return RISK_RANK[value.casefold()]
    if key in DURATIONS:
        return _duration_ms(key, value, span)
    if now_us is None:
        raise FilterError(f"{key} needs a clock, and there is none here", *span)
    try:
        return (since_us if key == "since" else until_us)(value, now_us, zone)
    except ValueError as fault:
        raise FilterError(str(fault), *span) from None


def _duration_ms(key: str, value: str, span: tuple[int, int]) -> int:
    match = _TOOK.fullmatch(value)
    if match is None:
        raise FilterError(f"{key} is compared with a time: 200ms, 5s, 2m or 1h", *span)
    if not match[2]:
        raise FilterError(f"a unit is missing: {value}ms, {value}s, {value}m or {value}h", *span)
    return round(float(match[1]) * _UNIT_MS[match[2].lower()])


def _unknown(what: str, word: str, allowed: Sequence[str]) -> str:
    by_plain = {plain(what, each): each for each in allowed}
    close = difflib.get_close_matches(plain(what, word), by_plain, n=1)
    hint = f" did you mean {by_plain[close[0]]}?" if close else ""
    return f"unknown {what} {word};{hint} allowed: {', '.join(allowed)}"

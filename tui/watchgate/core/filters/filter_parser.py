r"""The filter language of `tail`, `search` and the console.

`agent:codex risk>=high -tool:Read since:7d "git push"`: terms separated by blanks, all of which
must hold. `key:value` compares one field, without regard to case; a value that ends in `*` is a
beginning. `risk` and `took` are compared with `>`, `>=`, `<` and `<=`. A word without a key is
found in the text where a word begins so, and behind a star anywhere. `-` before a term turns it
round (`--force` is a text). Quotes hold what would end a term or mean something; inside them a
backslash precedes `"` and `\\`.

- Words that somebody looks for in a text: matched where a word begins so, or anywhere. A word is a
  run of ASCII letters and digits and of whatever is not ASCII, as the index of recorded history
  cuts them: what begins here is what that finds there.
- The parts of a filter: conditions on fields, and the tests made of them.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from functools import lru_cache
from typing import Final, TypeVar

import msgspec

from watchgate.core.base.time_parsing import since_us, until_us, write_utc
from watchgate.core.filters.filter_keys import DURATIONS, KEYS, ORDERED, RISK_RANK, TEXT, plain

_WORD: Final = r"0-9a-z\u0080-\U0010ffff"
_RUN = re.compile(f"[{_WORD}]+")
_INSIDE: Final = f"(?<![{_WORD}])"


class NeedleWords(msgspec.Struct, frozen=True):
    """The words that a text with the needle holds: `whole` ones, and one that begins so."""

    whole: tuple[str, ...] = ()
    begun: str = ""


def text_matcher(needle: str, *, anywhere: bool = False) -> Callable[[str], bool]:
    """Builds the test whether a text has the needle, regardless of case.

    `push` is found in `git.push` and `--push`, and in `gitpush` only `anywhere`.
    """
    wanted = needle.casefold()
    if anywhere or not _RUN.match(wanted):
        return lambda text: wanted in text.casefold()
    search = re.compile(_INSIDE + re.escape(wanted)).search

    def begins(text: str) -> bool:
        folded = text.casefold()
        return wanted in folded and search(folded) is not None

    return begins


def needle_words(needle: str) -> NeedleWords:
    """Returns the words that every text has in which the needle stands where one begins."""
    wanted = needle.casefold()
    words = [(match[0], match.end()) for match in _RUN.finditer(wanted)]
    if words and words[-1][1] == len(wanted):
        return NeedleWords(tuple(word for word, _ in words[:-1]), words[-1][0])
    return NeedleWords(tuple(word for word, _ in words))


T = TypeVar("T")
Value = str | int | tuple[str, ...] | None
"""The value of a field: a text, several that it goes by, a number, or nothing."""

Getter = Callable[[T], Value]

_COMPARE: Final[dict[str, Callable[[int, int], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_TIMED: Final = {"since": ">=", "until": "<"}
_TEXT_QUOTED: Final = frozenset('":*<>=')
_VALUE_QUOTED: Final = frozenset('"*')


class Term(msgspec.Struct, frozen=True):
    """One condition: a field's value or its beginning, a comparison, or a word of the text.

    `op` is `:` or how `limit` is compared: the rank of a risk, milliseconds that something took, a
    moment in UTC µs. `anywhere`: the word may stand inside of others, too.
    """

    key: str
    value: str
    prefix: bool = False
    negated: bool = False
    op: str = ":"
    limit: int | None = None
    anywhere: bool = False

    @property
    def field(self) -> str:
        """The field that it looks at."""
        return "at" if self.key in _TIMED else self.key

    def test(self) -> Callable[[Value], bool]:
        """Builds the test of a field's value; a field that is missing equals nothing."""
        holds = _limited(self) if self.limit is not None else _equal(self)
        return (lambda held: not holds(held)) if self.negated else holds

    def __str__(self) -> str:
        value, bare = self.value, _VALUE_QUOTED
        if self.key == TEXT:
            bare = _TEXT_QUOTED | {value[:1]} if value.startswith("-") else _TEXT_QUOTED
        if not (value or self.prefix) or any(char.isspace() or char in bare for char in value):
            value = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        key = "" if self.key == TEXT else self.key + self.op
        return f"{'-' * self.negated}{key}{'*' * self.anywhere}{value}{'*' * self.prefix}"


class Filter(msgspec.Struct, frozen=True):
    """Conditions that must all hold; without any, everything matches."""

    terms: tuple[Term, ...] = ()

    @property
    def since_us(self) -> int | None:
        """Nothing from before then (UTC µs) can match; None without such a bound."""
        bounds = [t.limit for t in self.terms if t.key == "since" and not t.negated]
        return max((bound for bound in bounds if bound is not None), default=None)

    @property
    def until_us(self) -> int | None:
        """Nothing from then on (UTC µs) can match; None without such a bound."""
        bounds = [t.limit for t in self.terms if t.key == "until" and not t.negated]
        return min((bound for bound in bounds if bound is not None), default=None)

    def pinned(self) -> Filter:
        """Returns the same with its times in UTC, for a core in another zone or at a later time."""
        return Filter(tuple(map(_pinned, self.terms)))

    def matches(self, fields: Mapping[str, Value]) -> bool:
        """Returns whether a record or row with these fields passes; bare words look at `text`."""
        return all(_test(term)(fields.get(term.field)) for term in self.terms)

    def over(self, getters: Mapping[str, Getter[T]]) -> Callable[[T], bool] | None:
        """Builds the test of many things whose fields are read by `getters`, only those it needs.

        None without a condition: everything passes.
        """
        tests = [(getters.get(term.field, _missing), term.test()) for term in self.terms]
        if not tests:
            return None
        if len(tests) == 1:
            ((get, test),) = tests
            return lambda thing: test(get(thing))
        return lambda thing: all(test(get(thing)) for get, test in tests)

    def __str__(self) -> str:
        return " ".join(map(str, self.terms))


def _pinned(term: Term) -> Term:
    if term.key not in _TIMED or term.limit is None:
        return term
    # `until` takes in the second that it names.
    last_us = max(0, term.limit - 1) if term.key == "until" else term.limit
    return msgspec.structs.replace(term, value=write_utc(last_us))


@lru_cache(maxsize=256)
def _test(term: Term) -> Callable[[Value], bool]:
    return term.test()


def _missing(_thing: object) -> None:
    """Reads the field of a thing that has no such field."""


def _limited(term: Term) -> Callable[[Value], bool]:
    compare, limit = _COMPARE[_TIMED.get(term.key, term.op)], term.limit or 0

    def of_risk(held: Value) -> bool:
        if not held or not isinstance(held, str):
            return False
        return compare(RISK_RANK.get(held.casefold(), RISK_RANK["unknown"]), limit)

    def of_number(held: Value) -> bool:
        return isinstance(held, int) and compare(held, limit)

    return of_risk if term.key == "risk" else of_number


def _equal(term: Term) -> Callable[[Value], bool]:
    key, wanted = term.key, plain(term.key, term.value)

    def begins(held: str) -> bool:
        return plain(key, held).startswith(wanted)

    def equals(held: str) -> bool:
        return plain(key, held) == wanted

    if key == TEXT:
        one = text_matcher(term.value, anywhere=term.anywhere)
    else:
        known = KEYS.get(key)
        one = begins if term.prefix or (known and known.shortened) else equals

    def holds(held: Value) -> bool:
        if isinstance(held, str):
            return one(held)
        return isinstance(held, tuple) and any(map(one, held))

    return holds


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


MAX_FILTER_CHARS: Final = 4_000
"""The longest filter: the core reads whatever it is asked between its other duties."""

__all__ = ["MAX_FILTER_CHARS", "Filter", "FilterError", "Term", "Value", "parse"]


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
    if len(text) > MAX_FILTER_CHARS:
        raise FilterError(
            f"longer than the {MAX_FILTER_CHARS:,} characters of a filter", MAX_FILTER_CHARS
        )
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

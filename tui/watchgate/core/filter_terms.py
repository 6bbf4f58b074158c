"""The parts of a filter: conditions on fields, and the tests made of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, TypeVar

import msgspec

from watchgate.core.filter_keys import KEYS, RISK_RANK, TEXT, plain
from watchgate.core.moments import written
from watchgate.core.needles import finder

T = TypeVar("T")
Value = str | int | tuple[str, ...] | None
"""What a field holds: a text, several that it goes by, a number, or nothing."""

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
    return msgspec.structs.replace(term, value=written(last_us))


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
        one = finder(term.value, anywhere=term.anywhere)
    else:
        known = KEYS.get(key)
        one = begins if term.prefix or (known and known.shortened) else equals

    def holds(held: Value) -> bool:
        if isinstance(held, str):
            return one(held)
        return isinstance(held, tuple) and any(map(one, held))

    return holds

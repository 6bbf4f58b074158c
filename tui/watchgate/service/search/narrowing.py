"""The part of a filter that the index can answer: conditions that all its matches meet.

Others may meet them, too: the filter itself checks every record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from watchgate.core.call_endings import ENDINGS
from watchgate.core.filter_keys import KEYS, RISK_RANK, TEXT, plain
from watchgate.core.filter_terms import Filter, Term
from watchgate.core.needles import runs
from watchgate.service.search.derived import may_be_derived
from watchgate.service.search.facets import token

Names = Mapping[tuple[str, str], str]
"""The names of sessions, by agent and id."""

_OF_RECORDS: Final = frozenset("agent session kind tool risk state rule by request call".split())
_OF_CALLS: Final = frozenset("agent tool rule request call".split())
_DECIDED: Final = frozenset(
    plain("state", word)
    for word in (
        *(word for word in ENDINGS if "-by-" in word or word.startswith("denied-")),
        *("denied", "allowed", "timed out", "DENIED BUT RAN", "RAN ALTERED"),
    )
)
"""States of a call that one of its records says; others come of several, or of none."""

_MAX_NAMES = 50


def of_records(wanted: Filter) -> str:
    """Returns a filter's condition on a record, for `MATCH`; empty where there is none."""
    return " AND ".join(filter(None, map(_of_record, wanted.terms)))


def of_calls(wanted: Filter, names: Names) -> list[str]:
    """Returns conditions of which each holds for some record of every matching call."""
    return list(dict.fromkeys(filter(None, (_of_call(term, names) for term in wanted.terms))))


def _of_record(term: Term) -> str:
    if not _names_something(term):
        return ""
    if term.key == TEXT:
        return _text(term)
    return _field(term) if term.key in _OF_RECORDS else ""


def _of_call(term: Term, names: Names) -> str:
    if not _names_something(term):
        return ""
    key, value = term.key, plain(term.key, term.value)
    if key == TEXT:
        return "" if may_be_derived(term.value) else _text(term)
    if key == "session":
        return _named(term, names)
    if key == "state":
        return _decided(value) if value in _DECIDED and not term.prefix else ""
    if key == "risk":
        return _field(term) if value in RISK_RANK and value != "unknown" else ""
    return _field(term) if key in _OF_CALLS else ""


def _names_something(term: Term) -> bool:
    """Returns whether only texts with the term's value match.

    Every text begins with an empty value.
    """
    return bool(term.value) and not term.negated and term.limit is None


def _text(term: Term) -> str:
    if term.anywhere:
        return ""
    words = runs(term.value)
    begun = [f'"{words.begun}"*'] if words.begun else []
    return " AND ".join([*(f'"{word}"' for word in words.whole), *begun])


def _field(term: Term) -> str:
    short = term.key == "session" or KEYS[term.key].shortened
    return _quoted(term.key, term.value, begins=term.prefix or short)


def _decided(value: str) -> str:
    # A call that a rule denied at once may say no more than that it was denied.
    return _quoted("state", "denied" if value == "denied-by-rule" else value, begins=False)


def _named(term: Term, names: Names) -> str:
    """Returns the condition on a session: its name, its id, its beginning, and a call's folder."""
    wanted = plain("session", term.value)
    fits: Callable[[str, str], bool] = str.startswith if term.prefix else str.__eq__
    sessions = [key for key, label in names.items() if fits(plain("session", label), wanted)]
    if len(sessions) > _MAX_NAMES:
        return ""
    either = [_field(term), _quoted("folder", term.value, begins=term.prefix)]
    either += [_quoted("session", session, begins=False) for _, session in sessions]
    return f"({' OR '.join(dict.fromkeys(either))})"


def _quoted(key: str, value: str, *, begins: bool) -> str:
    return f'"{token(key, value)}"{"*" * begins}'

"""The indexed text of a record: its words, and tokens for the keys of a filter.

- Words of a call's line on screen that none of its records holds.
- The part of a filter that the index can answer: conditions that all its matches meet. Others may
  meet them, too: the filter itself checks every record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from watchgate.core.filters.filter_fields import RECORD_FIELDS, record_text
from watchgate.core.filters.filter_keys import KEYS, RISK_RANK, STATES, TEXT, plain
from watchgate.core.filters.filter_parser import Filter, Term, needle_words, text_matcher
from watchgate.core.history.call_history import CALL_KINDS
from watchgate.core.model.outcomes import ENDINGS
from watchgate.core.model.records import Record

_PHRASES: Final = (
    *STATES,
    *("answered", "interrupted", "you", "an operator", "nobody", "twice", "yes"),
    *("no console", "no journal", "no core", "no gate", "a failure", "a pause", "a grant"),
    *("agent gone", "the gate", "a rule"),
)
_BEFORE_A_NAME: Final = re.compile(r"(in|rule|nobody)(?![^\W_])", re.IGNORECASE)
_ACROSS: Final = re.compile(r",|\s\s|\A[0-9:\s]*\Z")
"""Text between two words of different records, and the length of a wait."""


def is_maybe_derived(needle: str) -> bool:
    """Returns whether a text could be found in such words, or across two texts."""
    trimmed = needle.strip(" ")  # blanks stand before such words and behind them
    if _ACROSS.search(needle) or _BEFORE_A_NAME.match(trimmed):
        return True
    matches_text = text_matcher(trimmed)
    return any(map(matches_text, _PHRASES))


MARK: Final = "\u00b6"
"""The first character of a token that is no word of a text; it counts as a letter."""

OF_CALL: Final = f'"{MARK}0"'
"""The condition that a call's line in the history is made of a record."""

_LETTERS: Final = {
    "agent": "a",
    "session": "s",
    "kind": "k",
    "tool": "t",
    "risk": "r",
    "state": "z",
    "rule": "u",
    "by": "b",
    "request": "q",
    "call": "c",
    "folder": "f",
}
_OF_DATA: Final = tuple(
    (key, RECORD_FIELDS[key]) for key in ("tool", "risk", "state", "rule", "by")
)
_CALL_KINDS: Final = frozenset(CALL_KINDS)
# What would end a token stands in it as another sign that does not.
_JOINED: Final = {code: 0x2400 + code for code in range(128) if not chr(code).isalnum()}


@lru_cache(maxsize=8_192)
def index_token(key: str, value: str) -> str:
    """Returns a field value's one token; raises `KeyError` for a key without any."""
    return f"{MARK}{_LETTERS[key]}{plain(key, value).translate(_JOINED)}"


def index_document(record: Record) -> str:
    """Returns everything by which a record is found, as one text."""
    parts = [record_text(record).casefold(), _place(record.kind, record.agent, record.session)]
    for key, get in _OF_DATA:
        value = get(record)
        if isinstance(value, str):
            parts.append(index_token(key, value))
        elif isinstance(value, tuple):
            parts += [index_token(key, each) for each in value if each]
    if record.request:
        parts.append(index_token("request", record.request))
    if record.call:
        parts.append(index_token("call", record.call))
        if record.kind in _CALL_KINDS:
            parts += _call_texts(record)
    return " ".join(parts)


def folder_of(cwd: str) -> str:
    """Returns the last part of a path, by which sessions and their calls are named."""
    return cwd.rstrip("/").rpartition("/")[2]


def _call_texts(record: Record) -> list[str]:
    """Returns the other words of a call's line: its rule, its reason to run ungated, its agent."""
    texts = (record.data.get("rule"), record.data.get("why"), record.agent)
    parts = [text.casefold() for text in texts if text and isinstance(text, str)]
    if (cwd := record.data.get("cwd")) and isinstance(cwd, str):
        parts.append(index_token("folder", folder_of(cwd)))
    return parts


@lru_cache(maxsize=4_096)
def _place(kind: str, agent: str | None, session: str | None) -> str:
    named = (("kind", kind), ("agent", agent), ("session", session))
    parts = [index_token(key, value) for key, value in named if value]
    return " ".join((*parts, f"{MARK}0") if kind in _CALL_KINDS else parts)


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


def record_condition(wanted: Filter) -> str:
    """Returns a filter's condition on a record, for `MATCH`; empty where there is none."""
    return " AND ".join(filter(None, map(_of_record, wanted.terms)))


def call_conditions(wanted: Filter, names: Names) -> list[str]:
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
        return "" if is_maybe_derived(term.value) else _text(term)
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
    words = needle_words(term.value)
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
    return f'"{index_token(key, value)}"{"*" * begins}'

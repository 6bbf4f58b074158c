"""The indexed text of a record: its words, and tokens for the keys of a filter."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from watchgate.core.filter_keys import plain
from watchgate.core.history import CALL_KINDS
from watchgate.core.record_fields import RECORD_FIELDS, words
from watchgate.core.records import Record

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
def token(key: str, value: str) -> str:
    """Returns a field value's one token; raises `KeyError` for a key without any."""
    return f"{MARK}{_LETTERS[key]}{plain(key, value).translate(_JOINED)}"


def document(record: Record) -> str:
    """Returns everything by which a record is found, as one text."""
    parts = [words(record).casefold(), _place(record.kind, record.agent, record.session)]
    for key, get in _OF_DATA:
        value = get(record)
        if isinstance(value, str):
            parts.append(token(key, value))
        elif isinstance(value, tuple):
            parts += [token(key, each) for each in value if each]
    if record.request:
        parts.append(token("request", record.request))
    if record.call:
        parts.append(token("call", record.call))
        if record.kind in _CALL_KINDS:
            parts += _of_call(record)
    return " ".join(parts)


def folder_of(cwd: str) -> str:
    """Returns the last part of a path, by which sessions and their calls are named."""
    return cwd.rstrip("/").rpartition("/")[2]


def _of_call(record: Record) -> list[str]:
    """Returns the other words of a call's line: its rule, its reason to run ungated, its agent."""
    texts = (record.data.get("rule"), record.data.get("why"), record.agent)
    parts = [text.casefold() for text in texts if text and isinstance(text, str)]
    if (cwd := record.data.get("cwd")) and isinstance(cwd, str):
        parts.append(token("folder", folder_of(cwd)))
    return parts


@lru_cache(maxsize=4_096)
def _place(kind: str, agent: str | None, session: str | None) -> str:
    named = (("kind", kind), ("agent", agent), ("session", session))
    parts = [token(key, value) for key, value in named if value]
    return " ".join((*parts, f"{MARK}0") if kind in _CALL_KINDS else parts)

"""Completions at the cursor of a filter: keys, and the values that they can have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.core.filters.filter_keys import DURATIONS, KEYS
from watchgate.core.filters.filter_parser import Term

if TYPE_CHECKING:
    from watchgate.core.state.state import State

MAX_COMPLETIONS: Final = 8
LOOKED_AT: Final = 500
"""The newest calls that are looked at for the names of tools."""

_BARE_CHARS = 2
"""A word without a key proposes what holds it, and values, only from so many characters on."""

_HEAD = re.compile(r"(?P<minus>-?)(?:(?P<key>[A-Za-z_]+)(?P<op>:|>=|<=|>|<))?")
_CLOSED = re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL)
_BARE = re.compile(r"\S*")
_TIMES = ("1h", "24h", "7d", "today", "yesterday")
_TOOK = ("200ms", "1s", "5s", "1m")
_FAMILIES = ("tool", "approval", "effect", "policy", "hook")


class KnownValues(msgspec.Struct, frozen=True, kw_only=True):
    """The values that occurred, the newest or most used first, for keys that can have any."""

    agents: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


class Completions(msgspec.Struct, frozen=True):
    """Texts of which each could stand for `start` to `end`; Tab takes the first."""

    start: int = 0
    end: int = 0
    texts: tuple[str, ...] = ()

    def put(self, text: str, number: int) -> tuple[str, int]:
        """Returns the text with one of them in its place, and the cursor's place behind it."""
        put = self.texts[number]
        return text[: self.start] + put + text[self.end :], self.start + len(put)


def known_in(state: State) -> KnownValues:
    """Collects the names of a state: its sessions, and the tools of the newest calls."""
    views = sorted(state.sessions.values(), key=lambda view: -view.seen_at)
    rows = state.rows.tail(LOOKED_AT)
    return KnownValues(
        agents=_once(view.agent for view in views),
        sessions=_once(view.label for view in views),
        hosts=_once(view.host for view in views),
        tools=_once(row.tool for row in reversed(rows)),
    )


def propose(text: str, at: int, known: KnownValues) -> Completions:
    """Returns the completions of the term that the cursor `at` is in."""
    start, end = _term_around(text, at)
    head = _HEAD.match(text, start, at)
    if head is None:
        return Completions()
    begun = text[head.end() : at]
    if not head["key"]:
        if end > at:
            return Completions()
        begin = start + len(head["minus"])
        return Completions(begin, end, _keys(begun, known))
    key = head["key"].lower()
    if key not in KEYS:
        return Completions()
    values = _fitting(begun.removeprefix('"'), _values(key, known))
    if [value.casefold() for value in values] == [begun.casefold()]:
        return Completions()
    return Completions(head.end(), end, tuple(_written(key, value) for value in values))


def may_complete(text: str, at: int, known: KnownValues) -> bool:
    """Returns whether the word before the cursor `at` may yet become a key or a known value.

    Nothing has it as it is, so that a list which took it at its word would be empty meanwhile.
    """
    start, end = _term_around(text, at)
    head = _HEAD.match(text, start, end)
    if at != end or head is None:
        return False
    word = text[head.end() : end].removeprefix('"').casefold()
    if not head["key"]:
        return bool(word) and any(name.startswith(word) for name in KEYS)
    key = head["key"].lower()
    values = [each.casefold() for each in _values(key, known)] if key in KEYS else []
    return word not in values and any(each.startswith(word) for each in values)


def _term_around(text: str, at: int) -> tuple[int, int]:
    """Returns start and end of the term that the cursor is in or behind."""
    start, quoted, position = 0, False, 0
    while position < at:
        char = text[position]
        if quoted and char == "\\":
            position += 1
        elif char == '"':
            quoted = not quoted
        elif char.isspace() and not quoted:
            start = position + 1
        position += 1
    # A quote that is never closed holds no terms that stand behind its first word.
    rest = (_CLOSED.match(text, position) if quoted else None) or _BARE.match(text, at)
    return min(start, at), max(at, rest.end() if rest else at)


def _keys(begun: str, known: KnownValues) -> tuple[str, ...]:
    """Returns the keys that fit, and known values with their keys."""
    if begun.startswith('"'):
        return ()
    names = [name for name in KEYS if name != "host" or known.hosts]
    completions = _fitting(begun, [f"{name}{'>' if name == 'took' else ':'}" for name in names])
    if len(begun) < _BARE_CHARS:
        completions = [head for head in completions if head.startswith(begun.casefold())]
    else:
        for key in ("agent", "session", "tool", "risk", "state"):
            some = [v for v in _values(key, known) if v.casefold().startswith(begun.casefold())]
            completions += [f"{key}:{_written(key, value)}" for value in some]
    return tuple(completions[:MAX_COMPLETIONS])


def _values(key: str, known: KnownValues) -> Iterable[str]:
    if key == "kind":
        return (*(f"{family}.*" for family in _FAMILIES), *KEYS[key].values)
    if KEYS[key].values:
        return KEYS[key].values
    if KEYS[key].timed:
        return _TIMES
    by_key: dict[str, tuple[str, ...]] = {
        "agent": known.agents,
        "session": known.sessions,
        "host": known.hosts,
        "tool": known.tools,
        "by": ("operator", "rule", "grant", "nobody", "watchgate"),
        **dict.fromkeys(DURATIONS, _TOOK),
    }
    return by_key.get(key, ())


def _written(key: str, value: str) -> str:
    """Writes a value as the filter language does."""
    if key == "state":
        return value.replace(" ", "-")
    if key == "kind":
        return value
    return str(Term(key, value))[len(key) + 1 :]


def _fitting(begun: str, texts: Iterable[str]) -> list[str]:
    """Returns the texts that begin so, then those that hold it; case and hyphens do not matter."""
    wanted = begun.casefold().replace(" ", "-")
    plain = {text: text.casefold().replace(" ", "-") for text in texts}
    first = [text for text, folded in plain.items() if folded.startswith(wanted)]
    return [*first, *(t for t, folded in plain.items() if wanted in folded and t not in first)][
        :MAX_COMPLETIONS
    ]


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    """Returns each once; what comes from outside and cannot be typed as it looks is left out."""
    return tuple(dict.fromkeys(text for text in texts if text and safe_text(text) == text))

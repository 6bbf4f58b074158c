"""Methods of texts, collections and other plain data."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final

from watchgate.core.policy.code.python.arguments import Call
from watchgate.core.policy.code.python.harmless import METHODS
from watchgate.core.policy.code.python.state import State, items
from watchgate.core.policy.code.python.values import (
    PLAIN,
    Const,
    Many,
    Obj,
    Seq,
    Text,
    Values,
    many,
    merged,
    pieces,
    seq,
)
from watchgate.core.policy.code.reading import Unknown
from watchgate.core.policy.code.unread import Unread
from watchgate.core.policy.shell.words import names

_MAX_CHARS: Final = 1_000
_PLAIN_TEXT: Final = names(
    "strip lstrip rstrip lower upper replace split rsplit removeprefix removesuffix splitlines"
)
_SPLITTING: Final = names("split rsplit splitlines")
_GIVING: Final = names("get pop setdefault popleft popitem")
_SHOWING: Final = names("keys values copy union most_common")
_TAKING: Final = names("append extend insert add update appendleft")


def method(state: State, name: str, given: Call) -> Values:
    """Return what a method of plain data returns."""
    state.forget(given.flat)
    if name in ("read_text", "read_bytes"):
        state.does("cat", Unknown())
    elif name not in METHODS or (name == "replace" and len(given.positional) == 1):
        raise Unread(f"calls {name} of something that is not followed")
    return PLAIN


def of_text(state: State, text: str, name: str, given: Call) -> Values:
    """Return what a method of a known text returns, worked out where that is plain."""
    if name == "join" and (made := _joined(text, given.at(0))) is not None:
        return (Const(made),)
    known = [value.value for value in given.flat if isinstance(value, Const)]
    plain = len(known) == len(given.positional) == len(given.values)
    short = all(len(str(each)) < _MAX_CHARS for each in (text, *known))
    if name in _PLAIN_TEXT and plain and short:
        try:
            made = getattr(text, name)(*known)
        except (TypeError, ValueError):
            return ()
        return split_text(made) if isinstance(made, list) else (Const(made),)
    method(state, name, given)
    return (many((Text(),)),) if name in _SPLITTING else (Text(),)


def split_text(words: Sequence[str]) -> Values:
    """A list of texts."""
    return (seq(tuple((Const(each),) for each in words)),)


def split_as_shell(values: Values) -> Values:
    """The words of texts, as a shell has them."""
    match values:
        case (Const(value=str() as text),):
            try:
                return split_text(shlex.split(text))
            except ValueError:
                return ()
        case _:
            return (many((Text(),)),)


def _joined(sign: str, listed: Values) -> str | None:
    if len(listed) != 1 or not isinstance(listed[0], Seq):
        return None
    parts = [pieces(each) for each in listed[0].items]
    texts = [each[0] for each in parts if len(each) == 1 and isinstance(each[0], str)]
    return sign.join(map(str, texts)) if len(texts) == len(parts) else None


def of_collection(state: State, owner: Seq | Many, name: str, given: Call) -> Values:
    """Return what a method of a collection returns."""
    inside = items((owner,), state)
    if name == "items":
        return (many((seq((inside, inside)),)),)
    if name in _SHOWING:
        return (many(inside, owner.sites),)
    if name in _GIVING:
        return merged((*inside, *(v for values in given.positional[1:] for v in values)))
    if name not in _TAKING:
        state.forget(given.flat)
        return PLAIN
    state.forget(v for v in given.flat if not isinstance(v, Const | Text | Obj | Many | Seq))
    added = items(given.flat, state) if name in ("extend", "update") else given.flat
    state.adds(owner, added)
    return PLAIN

"""Methods of texts, collections and other plain data.

- Values that operators and f-strings make.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Sequence
from itertools import islice, product
from typing import Final

from watchgate.core.policy.code.code_reading import UNKNOWN_TEXT, Piece, UnknownWord, UnreadCode
from watchgate.core.policy.code.python.harmless import METHODS
from watchgate.core.policy.code.python.python_state import PythonState, items
from watchgate.core.policy.code.python.python_values import (
    PLAIN,
    CallArguments,
    Const,
    Foreign,
    KnownText,
    Many,
    Obj,
    RestOfValues,
    Seq,
    Value,
    Values,
    joined,
    many,
    merged,
    path_joined,
    pieces,
    seq,
    text_of,
)
from watchgate.core.policy.shell.commands import names

_MAX_CHOICES: Final = 8
_MAX_PARTS: Final = 100
_FORMAT: Final = re.compile(r"%[-+ #0]{0,5}\d{0,9}(?:\.\d{0,9})?[a-zA-Z]|%\(\w{1,99}\)[a-zA-Z]")


def operation(state: PythonState, left: Values, sign: ast.operator, right: Values) -> Values:
    """Returns the values that an operator makes of two operands."""
    return merged(
        value for one in left for other in right for value in _of_two(state, one, sign, other)
    )


def _of_two(state: PythonState, left: Value, sign: ast.operator, right: Value) -> Values:
    path = isinstance(sign, ast.Div) and _path(left, right)
    if path:
        return path
    if isinstance(left, Seq | Many) or isinstance(right, Many):
        return _of_collections(state, left, sign, right)
    if isinstance(sign, ast.Mod) and isinstance(left, Const) and isinstance(left.value, str):
        state.shown((right,))
        text = _FORMAT.sub(UNKNOWN_TEXT, left.value)
        return (Const(text),) if text == left.value else (KnownText(text),)
    if isinstance(sign, ast.Add) and (_is_text(left) or _is_text(right)):
        state.shown((left, right))
        return (text_of(joined(pieces((left,))[0], pieces((right,))[0])),)
    for each in (left, right):
        if isinstance(each, Foreign):
            return (each,)
    state.forget((left, right))
    return (KnownText(),) if isinstance(left, Const | KnownText) else PLAIN


def _is_text(value: Value) -> bool:
    return isinstance(value, KnownText) or (
        isinstance(value, Const) and isinstance(value.value, str)
    )


def _path(left: Value, right: Value) -> Values:
    """Returns the paths that `/` makes of a path and a name; nothing without a path."""
    if all(not isinstance(each, Obj) or each.kind != "pathlib.Path" for each in (left, right)):
        return ()
    return tuple(
        Obj("pathlib.Path", path_joined(folder, name))
        for folder in pieces((left,))
        for name in pieces((right,))
    )


def _of_collections(state: PythonState, left: Value, sign: ast.operator, right: Value) -> Values:
    if isinstance(left, Seq) and isinstance(sign, ast.Add):
        if isinstance(right, Seq):
            return (seq(left.items + right.items, (*left.sites, *right.sites)),)
        return (seq((*left.items, (RestOfValues(items((right,), state)),)), left.sites),)
    both = [each for each in (left, right) if isinstance(each, Many | Seq)]
    state.forget(each for each in (left, right) if each not in both)
    sites = tuple(sorted({site for each in both for site in each.sites}))
    return (many((item for each in both for item in items((each,), state)), sites),)


def signed(state: PythonState, sign: ast.unaryop, operands: Values) -> Values:
    """Returns the values that a sign makes of the operand behind it."""
    match sign, operands:
        case ast.USub(), (Const(value=int() as number),):
            return (Const(-number),)
        case _:
            state.described(operands)
            return PLAIN


def formatted(parts: Sequence[tuple[Piece, ...]]) -> Values:
    """The text of an f-string, of whose parts each has some alternatives."""
    if len(parts) > _MAX_PARTS:
        return (KnownText(),)
    texts = []
    for chosen in islice(product(*parts), _MAX_CHOICES + 1):
        text: Piece = ""
        for each in chosen:
            text = joined(text, each)
        texts.append(text_of(text))
    return merged(texts) if len(texts) <= _MAX_CHOICES else (KnownText(),)


_MAX_CHARS: Final = 1_000
_PLAIN_TEXT: Final = names(
    "strip lstrip rstrip lower upper replace split rsplit removeprefix removesuffix splitlines"
)
_SPLITTING: Final = names("split rsplit splitlines")
_GIVING: Final = names("get pop setdefault popleft popitem")
_SHOWING: Final = names("keys values copy union most_common")
_TAKING: Final = names("append extend insert add update appendleft")


def method(state: PythonState, name: str, given: CallArguments) -> Values:
    """Returns the values from a method of plain data."""
    state.forget(given.flat)
    if name in ("read_text", "read_bytes"):
        state.does("cat", UnknownWord())
    elif name not in METHODS or (name == "replace" and len(given.positional) == 1):
        raise UnreadCode(f"calls {name} of something that is not followed")
    return PLAIN


def of_text(state: PythonState, text: str, name: str, given: CallArguments) -> Values:
    """Returns the values from a method of a known text, worked out where that is plain."""
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
    return (many((KnownText(),)),) if name in _SPLITTING else (KnownText(),)


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
            return (many((KnownText(),)),)


def _joined(sign: str, listed: Values) -> str | None:
    if len(listed) != 1 or not isinstance(listed[0], Seq):
        return None
    parts = [pieces(each) for each in listed[0].items]
    texts = [each[0] for each in parts if len(each) == 1 and isinstance(each[0], str)]
    return sign.join(map(str, texts)) if len(texts) == len(parts) else None


def of_collection(state: PythonState, owner: Seq | Many, name: str, given: CallArguments) -> Values:
    """Returns the values from a method of a collection."""
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
    state.forget(v for v in given.flat if not isinstance(v, Const | KnownText | Obj | Many | Seq))
    added = items(given.flat, state) if name in ("extend", "update") else given.flat
    state.adds(owner, added)
    return PLAIN

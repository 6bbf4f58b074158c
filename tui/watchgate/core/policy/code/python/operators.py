"""Values that operators and f-strings make."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import islice, product
from typing import Final

from watchgate.core.policy.code.python.state import State, items
from watchgate.core.policy.code.python.values import (
    PLAIN,
    Const,
    Foreign,
    Many,
    Obj,
    Rest,
    Seq,
    Text,
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
from watchgate.core.policy.code.reading import UNKNOWN_TEXT, Piece

_MAX_CHOICES: Final = 8
_MAX_PARTS: Final = 100
_FORMAT: Final = re.compile(r"%[-+ #0]{0,5}\d{0,9}(?:\.\d{0,9})?[a-zA-Z]|%\(\w{1,99}\)[a-zA-Z]")


def operation(state: State, left: Values, sign: ast.operator, right: Values) -> Values:
    """Return what an operator makes of two values."""
    return merged(
        value for one in left for other in right for value in _of_two(state, one, sign, other)
    )


def _of_two(state: State, left: Value, sign: ast.operator, right: Value) -> Values:
    path = isinstance(sign, ast.Div) and _path(left, right)
    if path:
        return path
    if isinstance(left, Seq | Many) or isinstance(right, Many):
        return _of_collections(state, left, sign, right)
    if isinstance(sign, ast.Mod) and isinstance(left, Const) and isinstance(left.value, str):
        state.shown((right,))
        text = _FORMAT.sub(UNKNOWN_TEXT, left.value)
        return (Const(text),) if text == left.value else (Text(text),)
    if isinstance(sign, ast.Add) and (_is_text(left) or _is_text(right)):
        state.shown((left, right))
        return (text_of(joined(pieces((left,))[0], pieces((right,))[0])),)
    for each in (left, right):
        if isinstance(each, Foreign):
            return (each,)
    state.forget((left, right))
    return (Text(),) if isinstance(left, Const | Text) else PLAIN


def _is_text(value: Value) -> bool:
    return isinstance(value, Text) or (isinstance(value, Const) and isinstance(value.value, str))


def _path(left: Value, right: Value) -> Values:
    """Return what `/` makes of a path and a name; nothing without a path."""
    if all(not isinstance(each, Obj) or each.kind != "pathlib.Path" for each in (left, right)):
        return ()
    return tuple(
        Obj("pathlib.Path", path_joined(folder, name))
        for folder in pieces((left,))
        for name in pieces((right,))
    )


def _of_collections(state: State, left: Value, sign: ast.operator, right: Value) -> Values:
    if isinstance(left, Seq) and isinstance(sign, ast.Add):
        if isinstance(right, Seq):
            return (seq(left.items + right.items, (*left.sites, *right.sites)),)
        return (seq((*left.items, (Rest(items((right,), state)),)), left.sites),)
    both = [each for each in (left, right) if isinstance(each, Many | Seq)]
    state.forget(each for each in (left, right) if each not in both)
    sites = tuple(sorted({site for each in both for site in each.sites}))
    return (many((item for each in both for item in items((each,), state)), sites),)


def signed(state: State, sign: ast.unaryop, operands: Values) -> Values:
    """Return what a sign in front makes of values."""
    match sign, operands:
        case ast.USub(), (Const(value=int() as number),):
            return (Const(-number),)
        case _:
            state.described(operands)
            return PLAIN


def formatted(parts: Sequence[tuple[Piece, ...]]) -> Values:
    """The text of an f-string, of whose parts each has some alternatives."""
    if len(parts) > _MAX_PARTS:
        return (Text(),)
    texts = []
    for chosen in islice(product(*parts), _MAX_CHOICES + 1):
        text: Piece = ""
        for each in chosen:
            text = joined(text, each)
        texts.append(text_of(text))
    return merged(texts) if len(texts) <= _MAX_CHOICES else (Text(),)
